import PushBase
import PushDomain
import PushStorage

/// A push whose audience is fixed, on its way into the database.
struct NewPush: Sendable {
  let request: AcceptRequest
  /// Members of the audience.
  let audienceCount: Int
  /// Which way it goes to whom.
  let plan: RoutePlan
  let now: Timestamp
  let expires: Timestamp
  /// What devices get.
  private(set) var content: PushContent
  private var contentBytes: [UInt8]
  private let targetBytes: [UInt8]?
  private let ownBytes: [UInt8]?
  private let apnsSet: NumberSet?
  private let apnsBytes: [UInt8]?
  private let callBytes: [UInt8]?
  private let single: RegistrationNumber?
  private let iosBytes: [UInt8]?
  private let unreachedBytes: [UInt8]?
  /// When each device gets it, nil for at once.
  let release: SteadyRelease?
  /// What is kept for looking back.
  let source: PushSource

  /// Encodes what the database keeps, so that the writer's thread need not.
  init(
    request: AcceptRequest, audience: Recipients, plan: RoutePlan, expiresIn seconds: Int64, at now: Timestamp
  ) {
    self.request = request
    audienceCount = audience.count
    self.plan = plan
    self.now = now
    expires = now.adding(seconds: seconds)
    source = request.source
    content = request.content
    contentBytes = content.encode()
    // Without Apple, the targets are those who wait for it over our connection.
    var reached = plan.own
    if !plan.isWithoutApple {
      var all = plan.own.numbers
      all.formUnion(plan.apns.numbers)
      all.formUnion(plan.calls.numbers)
      reached = Recipients(all)
    }
    if case .few(let numbers) = reached, numbers.count == 1 { single = numbers.first } else { single = nil }
    let isSteady = request.spreadMinutes > 0 && reached.count > 1
    release =
      isSteady ? SteadyRelease(targets: reached.numbers, start: now, minutes: request.spreadMinutes) : nil
    targetBytes = single == nil ? reached.numbers.serialized() : nil
    apnsSet = plan.apns.isEmpty ? nil : plan.apns.numbers
    apnsBytes = apnsSet?.serialized()
    callBytes = plan.calls.isEmpty ? nil : plan.calls.numbers.serialized()
    ownBytes = plan.own.count == reached.count ? nil : plan.own.numbers.serialized()
    iosBytes = plan.ios?.serialized()
    unreachedBytes =
      reached.count == audience.count
      ? nil : audience.numbers.subtracting(reached.numbers).serialized()
  }

  /// The push as channels see it.
  var stored: StoredPush { StoredPush(content: content, strategy: request.strategy, apns: apnsSet) }

  /// The only one who waits for it over our connection, nil if there are none or several.
  var onlyOwn: RegistrationNumber? {
    if case .few(let numbers) = plan.own, numbers.count == 1 { numbers.first } else { nil }
  }

  /// Takes the place that the banner of an overridden push has.
  mutating func inheritCollapseIDs(from old: [UInt8]) {
    guard !content.apple.isEmpty, let old = PushContent(decoding: old) else { return }
    content.inheritCollapseIDs(from: old)
    contentBytes = content.encode()
  }

  /// What is stored of it.
  func row(_ id: MessageID, app: AppID) -> PushRow {
    PushRow(
      id: id, app: app, createdAt: now, expiresAt: expires, sendno: Int64(request.sendno),
      platforms: request.platforms, target: single, targets: targetBytes, ownTargets: ownBytes,
      apnsTargets: apnsBytes, callTargets: callBytes, iosTargets: iosBytes, unreached: unreachedBytes,
      isOnlineOnly: request.timeToLive == 0, targetCount: UInt32(clamping: audienceCount),
      strategy: request.strategy.number,
      overrides: request.overrides, content: contentBytes)
  }
}
