import BorealisBase
import Model

/// That a registration has a token, or has lost it.
package struct HeldToken: Sendable, Equatable {
  /// The registration's number within the app.
  package var number: RegistrationNumber
  /// Which of its tokens it is.
  package var slot: TokenSlot
  /// The service that it belongs to; `none` if it is gone.
  package var service: ServiceID

  package init(number: RegistrationNumber, slot: TokenSlot, service: ServiceID) {
    self.number = number
    self.slot = slot
    self.service = service
  }

  /// That a registration has a token; one that is empty, that it has it no more.
  package init(_ token: PushToken, of number: RegistrationNumber) {
    self.init(number: number, slot: token.slot, service: token.service)
  }
}

/// What a push by a channel needs of a registration.
package struct TokenRow: Sendable, Equatable {
  /// Its number within the app.
  package var number: RegistrationNumber
  /// The service that the token belongs to; `none` if it named none.
  package var service: ServiceID
  package var token: [UInt8]
  /// When the device last reported it.
  package var tokenAt: Timestamp
  /// The number on the app's icon, as the server last knew it.
  package var badge: Int64

  package init(
    number: RegistrationNumber, service: ServiceID, token: [UInt8], tokenAt: Timestamp, badge: Int64
  ) {
    self.number = number
    self.service = service
    self.token = token
    self.tokenAt = tokenAt
    self.badge = badge
  }
}
