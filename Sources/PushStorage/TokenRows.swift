import PushBase
import PushDomain

/// That a registration has a token, or has lost it.
public struct HeldToken: Sendable, Equatable {
  /// The registration's number within the app.
  public var number: RegistrationNumber
  /// Which of its tokens it is.
  public var slot: TokenSlot
  /// The service that it belongs to; `none` if it is gone.
  public var service: ServiceID

  /// All fields.
  public init(number: RegistrationNumber, slot: TokenSlot, service: ServiceID) {
    self.number = number
    self.slot = slot
    self.service = service
  }

  /// That a registration has a token; one that is empty, that it has it no more.
  public init(_ token: PushToken, of number: RegistrationNumber) {
    self.init(number: number, slot: token.slot, service: token.service)
  }
}

/// What a push by a channel needs of a registration.
public struct TokenRow: Sendable, Equatable {
  /// Its number within the app.
  public var number: RegistrationNumber
  /// The service that the token belongs to; `none` if it named none.
  public var service: ServiceID
  /// The token.
  public var token: [UInt8]
  /// When the device last reported it.
  public var tokenAt: Timestamp
  /// The number on the app's icon, as the server last knew it.
  public var badge: Int64

  /// All fields.
  public init(
    number: RegistrationNumber, service: ServiceID, token: [UInt8], tokenAt: Timestamp, badge: Int64
  ) {
    self.number = number
    self.service = service
    self.token = token
    self.tokenAt = tokenAt
    self.badge = badge
  }
}
