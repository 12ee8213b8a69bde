import BorealisBase
import HTTP
import Model
import Storage

/// A push that keeps every rule, with who asks for it: what acceptance begins with.
package struct AcceptRequest: Sendable {
  /// The request.
  package var push: PushRequest
  /// Who makes it.
  package var sender: PushSender
  /// Whether it is an entry of a batch.
  package var isBatch: Bool
  /// The push object that it was read from, JSON in UTF-8, for those who look back at it.
  package var object: [UInt8]?
  /// What the audit log says of it, in the same commit; its target is filled in: the push and how many it is
  /// for. Nil, as for app servers, for nothing.
  package var note: AuditRow?
  /// What Getui's API says of it; nil for pushes that came another way.
  package var getui: GetuiOrigin?
  /// The person who decided that it goes; nil for the app's server.
  package var author: PersonID?
  /// The forecast made when a person sends it in the console; nil if there is none.
  package var forecast: PushForecast?
  /// Whether a second person has approved it: it may go to however many devices.
  package var isApproved = false
  /// Whether it is the rest of a push that went to a share of its audience first, and counts as one push
  /// with it.
  var isRest = false
  /// Whose turn it is, for a schedule that follows the clocks of devices; nil if everybody gets it now.
  var turn: Turn?
  /// Whether its app has quiet hours that it keeps; known once it is routed.
  var meetsQuietHours = false
  /// Those who have the push that this one replaces, or may get it at any moment.
  var corrected = NumberSet()
  /// The only channel to a service that may bring it; nil for all that fit. For tests of a channel.
  package var channel: ChannelID?
  /// The span that it is accepted under; nil if it is not traced.
  package var trace: ActiveSpan?

  /// A push that reaches its audience zone by zone.
  struct Turn: Sendable {
    /// Those whose turn it is.
    let devices: NumberSet
    /// Whether nobody had a push before in this occurrence. The following ones count as one with it.
    let isFirst: Bool
  }

  /// Makes a request.
  package init(
    _ push: PushRequest, from sender: PushSender = .api, isBatch: Bool = false, object: [UInt8]? = nil,
    note: AuditRow? = nil
  ) {
    self.push = push
    self.sender = sender
    self.isBatch = isBatch
    self.object = push.resolved ?? object
    self.note = note
    if case .person(let person) = sender { author = person }
  }

  /// The app server's label; a push without one has 0.
  var sendno: Int64 { push.options.sendno ?? 0 }
  /// The push that this one replaces.
  var overrides: MessageID? { push.options.overrideMessageID }
  /// How many of the devices that it is for get it when it is accepted: of those of an A/B test, and with a
  /// canary, not the rest, whose push is charged by itself.
  func devicesAtOnce(of devices: Int) -> Int {
    if let test = push.abTest { return AudienceSplit.participants(of: devices, in: test.design) }
    return push.options.canary?.devices(of: devices) ?? devices
  }
  /// Minutes over which delivery is paced evenly, 0 for at once.
  var pacingMinutes: Int64 { Int64(push.options.bigPushDuration) }
}

/// What the app server learns of an accepted push.
package struct AcceptedPush: Sendable, Equatable {
  package let id: MessageID
  /// The label of the first request with this `cid`.
  package let sendno: Int64
  /// Registrations in its audience.
  package let targets: Int
}

extension AcceptRequest {
  /// 2005 if so many devices are more than the request may reach without the approval of a second person.
  func fault(_ brakes: BrakesRow, devices: Int) -> APIError? {
    guard brakes.needsApproval(devices: devices), !isApproved, author != nil || brakes.includesServers
    else { return nil }
    return .volumeRefused.with(
      detail: "the push is for \(devices) devices, and one of this app to more than "
        + "\(brakes.approvalAbove) needs the approval of a second person in the console")
  }
}

extension AcceptRequest {
  /// The class of the push, and how many of it a device of an app gets in a day; nil for any number, also for
  /// a test of a channel.
  func cap(in app: App) -> (pushClass: PushClass, limit: Int)? {
    guard channel == nil else { return nil }
    return push.limitedClass.flatMap { pushClass in app.caps[pushClass].map { (pushClass, $0) } }
  }
}

extension AcceptedPush {
  /// What the first request with a `cid` was answered.
  init(_ first: CIDRow) {
    self.init(id: first.id, sendno: first.sendno, targets: Int(first.targetCount))
  }
}

extension AcceptRequest {
  /// Longer push objects are not kept, in bytes.
  private static let keptObject = 65_536

  /// What is kept for looking back.
  var source: PushSource {
    var traits = push.traits
    if isBatch { traits.insert(.batch) }
    if turn != nil { traits.insert(.zone) }
    if meetsQuietHours { traits.insert(.keepsQuietHours) }
    return PushSource(
      sender: sender, traits: traits, object: object.flatMap { $0.count > Self.keptObject ? nil : $0 },
      forecast: forecast?.encode())
  }
}

extension PushRequest {
  /// The kind and the audience of the push.
  package var traits: PushTraits {
    var traits: PushTraits = []
    if isGetui { traits.insert(.getui) }
    let parts = content.parts
    if parts.contains(.notification) { traits.insert(.notification) }
    if parts.contains(.message) { traits.insert(.message) }
    switch audience.named {
    case .all: traits.insert(.everybody)
    case .file: traits.insert(.file)
    case .filter(let filter):
      if filter.segment != nil { traits.insert(.segment) }
      if filter.abTest != nil { traits.insert(.abTest) }
      if filter.liveActivityID != nil { traits.insert(.liveActivity) }
      if filter.hasTags { traits.insert(.tags) }
      if !filter.aliases.isEmpty { traits.insert(.aliases) }
      if !filter.registrationIDs.isEmpty { traits.insert(.registrations) }
    case .testDevices: break
    }
    return traits
  }
}
