import PushBase
import PushJSON

/// A push object that keeps every rule: who gets what, and how.
public struct PushRequest: Equatable, Sendable {
  /// The sender's idempotency key; that it was issued to this app is not checked here.
  public var cid: String?
  /// The platforms that the sender named.
  public let namedPlatforms: PlatformSet
  /// The platforms whose devices can be targets: those named for which the content has something.
  public var platforms: PlatformSet
  /// The audience.
  public var audience: Audience
  /// What the devices get.
  public var content: PushContent
  /// How the push is carried out.
  public var options: PushOptions
  /// What is reported to the app server.
  public var callback: PushCallback?

  /// Puts a push together; `platforms` are those that the sender named.
  public init(
    cid: String? = nil, platforms: PlatformSet, audience: Audience, content: PushContent,
    options: PushOptions = PushOptions(), callback: PushCallback? = nil
  ) {
    self.cid = cid
    namedPlatforms = platforms
    self.platforms = platforms.intersection(content.platforms)
    self.audience = audience
    self.content = content
    self.options = options
    self.callback = callback
  }

  private static let known: Set<String> = [
    "cid", "platform", "audience", "notification", "message", "live_activity", "inapp_message",
    "notification_3rd", "sms_message", "options", "callback",
  ]

  /// Reads the push object of `POST /v3/push` (JPush REST v3, section "The push object"). Throws JPush's
  /// codes: 1002 for missing values, 1003 for invalid or unsupported ones, 1005 for values that are too large, 1009 for
  /// unknown keys, 2007 for unsupported features. The message names the field. The caller checks the size of the body.
  /// `kind` says which audiences are allowed.
  public static func parse(
    _ json: JSONValue, rules: PushRules = PushRules(), audience kind: AudienceKind = .named
  ) throws(APIError) -> PushRequest {
    guard let object = json.object else {
      throw .invalidValue("The body must be a JSON object")
    }
    let push = Fields(object)
    try push.allow(known)
    let platforms = try platforms(push)
    return try parse(push, platforms, try Audience.parse(push, rules: rules, kind: kind), rules)
  }

  /// Reads a push object without the member `audience` for an audience that is known already, whose names are checked here.
  /// Otherwise like `parse(_:rules:audience:)`.
  public static func parse(
    _ object: JSONObject, to audience: Audience, rules: PushRules
  ) throws(APIError) -> PushRequest {
    let push = Fields(object)
    try push.allow(known)
    let platforms = try platforms(push)
    try audience.filter?.checkNames(rules)
    return try parse(push, platforms, audience, rules)
  }

  private static func parse(
    _ push: Fields, _ platforms: PlatformSet, _ named: Audience, _ rules: PushRules
  ) throws(APIError) -> PushRequest {
    var audience = named
    try refuse(push)
    let options = try PushOptions.parse(push, rules: rules)
    if let test = push["options"]?["test_model"], Fields.flag(test) == true {
      audience = .testDevices(of: audience)
    }
    try options.encryption?.check(audience)
    let content = try ContentParser(
      push: push, platforms: platforms, rules: rules, options: options,
      liveActivityID: audience.liveActivityID
    ).parse()
    try checkVendorFallback(push)
    if options.fallbackAfter != nil, !content.hasNotification {
      throw .invalidValue("options.fallback_after needs a notification: vendors' channels bring no messages")
    }
    return PushRequest(
      cid: try cid(push), platforms: platforms, audience: audience, content: content, options: options,
      callback: try PushCallback.parse(push))
  }

  private static func platforms(_ push: Fields) throws(APIError) -> PlatformSet {
    guard let value = push["platform"] else { throw push.missing("platform") }
    if value == "all" { return .all }
    guard let names = value.array else { throw push.invalid("platform", "must be 'all' or a JSON array") }
    var platforms: PlatformSet = []
    for name in names {
      guard let name = name.string else { throw push.invalid("platform", "must hold strings only") }
      // Old clients name it; no device is one.
      if name == "winphone" { continue }
      guard let platform = Platform(name: name) else {
        throw push.invalid("platform", "'\(name.prefix(64))' is not known")
      }
      platforms.insert(PlatformSet(platform))
    }
    guard !platforms.isEmpty else { throw push.invalid("platform", "names no supported platform") }
    return platforms
  }

  /// 1 to 64 letters, digits, `-` and `_`: every cid that was ever issued is one.
  private static func cid(_ push: Fields) throws(APIError) -> String? {
    guard let cid = try push.string("cid") else { return nil }
    let isPlain = cid.utf8.allSatisfy {
      switch $0 {
      case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"): true
      default: false
      }
    }
    guard isPlain, (1...64).contains(cid.utf8.count) else { throw push.invalid("cid", "is invalid") }
    return cid
  }

  /// What can't be done here is said, never passed over.
  private static func refuse(_ push: Fields) throws(APIError) {
    if let sms = try push.fields("sms_message"), !sms.present.isEmpty {
      throw .notPermitted("sms_message is not supported")
    }
    if let inapp = try push.fields("inapp_message"), try inapp.flag("inapp_message") == true {
      throw push.notPermitted("inapp_message")
    }
  }

  /// `notification_3rd` goes to Android vendors when the direct connection is down. There are no such channels here,
  /// so that there is nothing to do for it; a fallback for iOS would have to reach APNs and is refused.
  private static func checkVendorFallback(_ push: Fields) throws(APIError) {
    guard let fallback = try push.fields("notification_3rd"), !fallback.present.isEmpty else { return }
    guard let message = push["message"]?.object, !message.isEmpty else {
      throw .missing("Missing parameter: notification_3rd needs message")
    }
    if fallback["ios"] != nil { throw fallback.notPermitted("ios") }
    if push["options"]?["notification_3rd_ver"]?.string == "v2" {
      for platform in [Platform.android, .hmos] {
        guard let own = try fallback.fields(platform.name) else { continue }
        try PlatformSchema.check(own, PlatformSchema.fields(platform))
      }
    } else {
      if try fallback.string("content") == nil { throw fallback.missing("content") }
      try PlatformSchema.check(fallback, PlatformSchema.fallback)
    }
  }
}
