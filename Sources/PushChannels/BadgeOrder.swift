import PushBase

/// Which pushes have counted devices' icons on, so that an older push that is sent later does not set an older number. What is known
/// is of this process only.
struct BadgeOrder: Sendable {
  /// The most devices that are known one by one.
  private static let most = 16_384

  /// The newest push for each device.
  private var newest: [RegistrationNumber: MessageID] = [:]
  private var newestOfAll = MessageID(0)
  /// Devices that are not known one by one may have had pushes up to this one.
  private var forgotten = MessageID(0)

  /// A push has given a device its number.
  mutating func note(_ number: RegistrationNumber, _ push: MessageID) {
    newest[number] = max(newest[number] ?? push, push)
    newestOfAll = max(newestOfAll, push)
    guard newest.count > Self.most else { return }
    newest = [:]
    forgotten = newestOfAll
  }

  /// Whether a newer push has given a device its number.
  func isOvertaken(_ push: MessageID, _ number: RegistrationNumber) -> Bool {
    newest[number].map { $0 > push } ?? false
  }

  /// Whether one may have.
  func mayBeOvertaken(_ push: MessageID, _ number: RegistrationNumber) -> Bool {
    forgotten > push || isOvertaken(push, number)
  }

  /// Nothing that got its number before is still to be sent.
  mutating func forgetAll() {
    newest = [:]
    forgotten = MessageID(0)
  }
}
