import BorealisBase
import Core

/// A request of a device whose result is awaited.
enum DeviceAsk: Sendable {
  case operation(Location, sequence: UInt32)
  case registration(Location, AppKey)
  case receipts

  /// What tells the device its result, and its loop; one that cannot be read is none. Nil if it waits for
  /// nothing.
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

/// The requests of devices whose results are awaited, by their numbers.
struct DeviceAsks: Sendable {
  private var asks: [UInt32: DeviceAsk] = [:]
  private var registrations: [Location: UInt32] = [:]
  private var last: UInt32 = 0

  /// The request of a number, if it is awaited.
  subscript(number: UInt32) -> DeviceAsk? { asks[number] }

  /// The number of the registration that a connection waits for.
  func registration(at location: Location) -> UInt32? { registrations[location] }

  /// What tells the devices to try again later, in the order in which they asked.
  var refusals: [(message: HomeMessage, loop: UInt16)] {
    asks.sorted { $0.key < $1.key }.compactMap(\.value.refusal)
  }

  /// Awaits the result of one more; its number.
  mutating func add(_ ask: DeviceAsk) -> UInt32 {
    last &+= 1
    asks[last] = ask
    if case .registration(let location, _) = ask { registrations[location] = last }
    return last
  }

  /// A request has a result, or gets none any more.
  @discardableResult
  mutating func end(_ number: UInt32) -> DeviceAsk? {
    let ask = asks.removeValue(forKey: number)
    if case .registration(let location, _) = ask { registrations[location] = nil }
    return ask
  }
}
