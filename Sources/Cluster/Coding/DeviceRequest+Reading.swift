import BorealisBase
import Core

extension DeviceRequest {
  /// What a home is asked by a message of a type for a session, at a moment of this node's clock; nil if the
  /// bytes are none.
  func message(_ type: MessageType, of session: BoundSession, askedAt: UInt64) -> GatewayMessage? {
    switch type {
    case .operation:
      OperationCoding.decode(body).map { .operation(session, sequence: sequence, $0, askedAt: askedAt) }
    case .register:
      OperationCoding.decodeDevice(body, at: session.location, askedAt: askedAt).map { .register($0) }
    default: OperationCoding.decodeReceipts(body).map { .receipts(session, $0) }
    }
  }
}

extension OperationCoding {
  /// The bytes of the result of a request that is not carried out.
  static func refusal(of type: MessageType) -> [UInt8] {
    switch type {
    case .operation: encode(OperationAnswer.failed(.unavailable))
    case .register: encode(RegisterResult.refused(.unavailable))
    default: []
    }
  }
}

extension SessionClose {
  /// There is no session (any longer), whatever its home says.
  init(_ handle: Handle) { self.init(handle: handle, number: RegistrationNumber(0), reason: 0) }
}
