import PushBase
import PushRouter

/// A request of a device whose result is awaited.
enum DeviceAsk: Sendable {
  case operation(Location, sequence: UInt32)
  case registration(Location, AppKey)
  case receipts

  /// What tells the device its result, and its loop; one that cannot be read is none. Nil if it waits for nothing.
  func answer(_ body: [UInt8]) -> (message: HomeMessage, loop: UInt16)? {
    switch self {
    case .operation(let location, let sequence):
      OperationCoding.decodeResult(body).map { (.result(location, sequence: sequence, $0), location.loop) }
        ?? refusal
    case .registration(let location, _):
      OperationCoding.decodeRegistered(body).map { (.registerResult(location, $0), location.loop) } ?? refusal
    case .receipts: nil
    }
  }

  /// What tells the device to try again later, and its loop; nil if it waits for nothing.
  var refusal: (message: HomeMessage, loop: UInt16)? {
    switch self {
    case .operation(let location, let sequence):
      (.result(location, sequence: sequence, .failed(.unavailable)), location.loop)
    case .registration(let location, _): (.registerResult(location, .refused(.unavailable)), location.loop)
    case .receipts: nil
    }
  }
}
