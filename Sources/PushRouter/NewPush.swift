import PushBase
import PushDomain
import PushStorage

/// A push whose audience is fixed, on its way into the database.
struct NewPush: Sendable {
  let request: AcceptRequest
  /// Members of the audience.
  let audienceCount: Int
  /// Who waits for it: the audience, or those of it who are online.
  let targets: Recipients
  let now: Timestamp
  let expires: Timestamp
  private let content: [UInt8]
  private let targetBytes: [UInt8]?

  /// Encodes what the database keeps, so that the writer's thread need not.
  init(
    request: AcceptRequest, audienceCount: Int, targets: Recipients, expiresIn seconds: Int64,
    at now: Timestamp
  ) {
    self.request = request
    self.audienceCount = audienceCount
    self.targets = targets
    self.now = now
    expires = now.adding(seconds: seconds)
    content = request.content.encode()
    if case .few(let numbers) = targets, numbers.count == 1 {
      targetBytes = nil
    } else {
      targetBytes = targets.numbers.serialized()
    }
  }

  /// The only one who waits for it, nil if there are none or several.
  var single: RegistrationNumber? {
    if case .few(let numbers) = targets, numbers.count == 1 { numbers.first } else { nil }
  }

  /// What is stored of it.
  func row(_ id: MessageID, app: AppID) -> PushRow {
    PushRow(
      id: id, app: app, createdAt: now, expiresAt: expires, sendno: Int64(request.sendno),
      platforms: request.platforms, target: single, targets: targetBytes,
      targetCount: UInt32(clamping: audienceCount), strategy: request.strategy.number,
      overrides: request.overrides, content: content)
  }
}
