import PushBase
import PushDomain
import PushStorage

/// A push that passed all checks of form, ready to be resolved and stored.
public struct AcceptRequest: Sendable {
  /// Makes a repeated request safe: the first result is given again.
  public var cid: String?
  /// Platforms that are meant.
  public var platforms: PlatformSet
  /// Who is meant.
  public var terms: AudienceTerms
  /// The file that names who is meant, instead of `terms`.
  public var file: String?
  /// What they get.
  public var content: PushContent
  /// The app server's label.
  public var sendno: Int32
  /// Seconds to keep for offline devices; 0 means only who is online now.
  public var timeToLive: Int
  /// The push that this one replaces.
  public var overrides: MessageID?
  /// Minutes over which it is spread evenly, 0 for at once.
  public var spreadMinutes: Int64 = 0
  /// The push plan that it is counted under.
  public var pushPlan: String?
  /// Whether it goes only to those of its audience that are devices for tests.
  public var isForTestDevices = false
  /// Whose rules choose the channel.
  public var strategy: Strategy
  /// What the app server is told of it; nil for what the app has set up.
  public var callback: PushCallback?
  /// Who makes it.
  public var sender = PushSender.api
  /// Whether it is an entry of a batch.
  public var isBatch = false
  /// The push object that it was read from, JSON in UTF-8, for those who look back at it.
  public var object: [UInt8]?

  /// What the audit log says of it, in the same commit; its target is filled in: the push and how many it is for. Nil, as for
  /// app servers, for nothing.
  public var note: AuditRow?

  /// Makes a request.
  public init(
    cid: String? = nil, platforms: PlatformSet = .all, terms: AudienceTerms = AudienceTerms(),
    file: String? = nil, content: PushContent, sendno: Int32 = 0, timeToLive: Int = 86_400,
    overrides: MessageID? = nil,
    strategy: Strategy = .jpush, callback: PushCallback? = nil
  ) {
    self.cid = cid
    self.platforms = platforms
    self.terms = terms
    self.file = file
    self.content = content
    self.content.overrides = overrides
    self.sendno = sendno
    self.timeToLive = timeToLive
    self.overrides = overrides
    self.strategy = strategy
    self.callback = callback
  }
}

/// What the app server learns of an accepted push.
public struct AcceptedPush: Sendable, Equatable {
  /// Its ID.
  public let id: MessageID
  /// The label of the first request with this `cid`.
  public let sendno: Int32
  /// Registrations in its audience.
  public let targets: Int
}

extension AcceptedPush {
  /// What the first request with a `cid` was answered.
  init(_ first: CIDRow) {
    self.init(id: first.id, sendno: Int32(clamping: first.sendno), targets: Int(first.targetCount))
  }
}

extension AcceptRequest {
  /// Longer push objects are not kept, in bytes.
  private static let keptObject = 65_536

  /// What is kept for looking back.
  var source: PushSource {
    PushSource(
      sender: sender, traits: traits, object: object.flatMap { $0.count > Self.keptObject ? nil : $0 })
  }

  /// What kind of push it is and whom it is for.
  public var traits: PushTraits {
    var traits: PushTraits = isBatch ? .batch : []
    let parts = content.variants.reduce(into: PushParts()) { $0.formUnion($1.parts) }
    if parts.contains(.notification) || !content.apple.isEmpty { traits.insert(.notification) }
    if parts.contains(.message) { traits.insert(.message) }
    if file != nil {
      traits.insert(.file)
    } else if terms.liveActivityID != nil {
      traits.insert(.liveActivity)
    } else if terms.meansEverybody {
      traits.insert(.everybody)
    }
    if !terms.tags.isEmpty || !terms.tagsAnd.isEmpty || !terms.tagsNot.isEmpty { traits.insert(.tags) }
    if !terms.aliases.isEmpty { traits.insert(.aliases) }
    if terms.namesRegistrations { traits.insert(.registrations) }
    return traits
  }
}
