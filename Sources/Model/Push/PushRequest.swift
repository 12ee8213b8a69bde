import BorealisBase

/// A push object that keeps every rule: who gets what, and how.
package struct PushRequest: Equatable, Sendable {
  /// The sender's idempotency key; that it was issued to this app is not checked here.
  package var cid: String?
  /// The platforms that the sender named.
  package let namedPlatforms: PlatformSet
  /// The platforms whose devices can be targets: those named for which the content has something.
  package var platforms: PlatformSet
  package var audience: Audience
  /// What the devices get.
  package var content: PushContent
  /// What devices get in other languages, in place of `content`.
  package var translations: [Translation] = []
  /// How the push is carried out.
  package var options: PushOptions
  /// What is reported to the app server.
  package var callback: PushCallback?
  /// Members of the push object that are accepted without effect, by their paths.
  package var ignored: [String] = []
  /// The template that it names; nil for none.
  package private(set) var template: Int64?
  /// The push object with the texts of that template, or of the A/B test, JSON in UTF-8.
  package internal(set) var resolved: [UInt8]?
  /// The A/B test whose first content it has; nil for none.
  package var abTest: ABTestUse?
  /// The push object for those whom it reaches only after its canary, JSON in UTF-8; nil without a canary.
  package var later: [UInt8]?
  /// Whether it is a request of Getui's API.
  package private(set) var isGetui = false

  /// Puts a push together; `platforms` are those that the sender named.
  package init(
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
    "cid", "platform", "audience", "notification", "message", "languages", "live_activity",
    "inapp_message", "notification_3rd", "sms_message", "options", "callback", "template",
  ]

  /// Reads the push object of `POST /v3/push` (JPush REST v3, section "The push object"). Throws JPush's
  /// codes: 1002 for missing values, 1003 for invalid or unsupported ones, 1005 for values that are too
  /// large, 1009 for unknown keys, 2007 for unsupported features. The message names the field. The caller
  /// checks the size of the body. `kind` says which audiences are allowed.
  package static func parse(
    _ json: JSONValue, rules: PushRules = PushRules(), audience kind: AudienceKind = .named
  ) throws(APIError) -> PushRequest {
    guard let object = json.object else {
      throw .invalidValue("The body must be a JSON object")
    }
    var push = Fields(object)
    try push.allow(known)
    let given = push
    let use = try PushTemplate.resolve(push, rules)
    if let use { push = Fields(use.object, ignored: push.ignored) }
    let platforms = try platforms(push)
    let audience = try Audience.parse(push, rules: rules, kind: kind)
    if let test = audience.filter?.abTest { return try parse(given, ofTest: test, platforms, rules) }
    var request = try parse(push, platforms, audience, rules)
    request.template = use?.id
    request.resolved = use.map { JSONWriter.serialize(.object($0.object)) }
    return request
  }

  /// Reads a push object without the member `audience` for an audience that is known already, whose names are
  /// checked here. Otherwise like `parse(_:rules:audience:)`.
  package static func parse(
    _ object: JSONObject, to audience: Audience, rules: PushRules
  ) throws(APIError) -> PushRequest {
    let push = Fields(object)
    try push.allow(known.subtracting(["template"]))
    let platforms = try platforms(push)
    try audience.filter?.checkNames(rules)
    return try parse(push, platforms, audience, rules)
  }

  static func parse(
    _ push: Fields, _ platforms: PlatformSet, _ named: Audience, _ rules: PushRules
  ) throws(APIError) -> PushRequest {
    var audience = named
    try refuse(push)
    let options = try PushOptions.parse(push, rules: rules)
    if let test = push["options"]?["test_model"], Fields.flag(test) == true {
      audience = .testDevices(of: audience)
    }
    try options.encryption?.check(audience)
    func readContent(of push: Fields) throws(APIError) -> PushContent {
      try ContentParser(
        push: push, platforms: platforms, rules: rules, options: options,
        liveActivityID: audience.liveActivityID
      ).parse()
    }
    let content = try readContent(of: push)
    if push.wish("languages") != nil, options.encryption != nil {
      throw .invalidValue("languages does not go with options.encryption")
    }
    if !rules.isGetui { try checkVendorFallback(push) }
    if options.fallbackAfter != nil, !content.hasNotification {
      throw .invalidValue("options.fallback_after needs a notification: vendors' channels bring no messages")
    }
    var request = PushRequest(
      cid: try cid(push), platforms: platforms, audience: audience, content: content, options: options,
      callback: try PushCallback.parse(push))
    request.translations = try Translation.all(of: push, with: content) { (push) throws(APIError) in
      try readContent(of: push)
    }
    if options.canary != nil {
      if let complaint = request.complaintOfCanary {
        throw .invalidValue("options.\(Canary.member) does not go with \(complaint)")
      }
      request.later = later(push.object)
    }
    request.ignored = push.ignored.names
    request.isGetui = rules.isGetui
    return request
  }

  private static let platformNames = Platform.allCases.map(\.name).joined(separator: ", ")

  private static func platforms(_ push: Fields) throws(APIError) -> PlatformSet {
    guard let value = push.wish("platform") else {
      throw push.missing("platform", "'all' or an array with any of \(platformNames)")
    }
    if value == "all" { return .all }
    guard let names = value.array else { throw push.invalid("platform", "must be 'all' or a JSON array") }
    var platforms: PlatformSet = []
    for value in names {
      guard let name = value.string else {
        throw push.invalid("platform", "holds \(value.excerpt); only strings are allowed")
      }
      // Old clients name it; no device is one.
      if name == "winphone" { continue }
      guard let platform = Platform(name: name) else {
        throw push.invalid("platform", "holds '\(name.prefix(64))'; known are \(platformNames)")
      }
      platforms.insert(PlatformSet(platform))
    }
    guard !platforms.isEmpty else {
      throw push.invalid("platform", "holds winphone only, which no device is")
    }
    return platforms
  }

  /// 1 to 64 letters, digits, `-` and `_`: every cid that was ever issued is one.
  private static func cid(_ push: Fields) throws(APIError) -> String? {
    guard let cid = try push.string("cid"), !cid.isEmpty else { return nil }
    let isPlain = cid.utf8.allSatisfy {
      switch $0 {
      case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"): true
      default: false
      }
    }
    guard isPlain, (1...64).contains(cid.utf8.count) else {
      throw push.invalid("cid", "must have 1 to 64 letters, digits, - and _")
    }
    return cid
  }

  /// What can't be done here is said, never passed over.
  private static func refuse(_ push: Fields) throws(APIError) {
    if try push.fields("sms_message") != nil, push.wish("sms_message") != nil {
      throw push.notPermitted("sms_message")
    }
  }

  /// `notification_3rd` is shown by makers' channels where a message does not arrive, which nothing does
  /// here; for iOS it would have to reach APNs and is refused.
  private static func checkVendorFallback(_ push: Fields) throws(APIError) {
    guard let fallback = try push.fields("notification_3rd"), push.wish("notification_3rd") != nil else {
      return
    }
    guard let message = push["message"]?.object, !message.isEmpty else {
      throw .missing("Missing parameter: notification_3rd needs message")
    }
    if fallback.wish("ios") != nil { throw fallback.notPermitted("ios") }
    push.ignore("notification_3rd")
    if push["options"]?["notification_3rd_ver"]?.string == "v2" {
      for platform in [Platform.android, .hmos] {
        guard let own = try fallback.fields(platform.name) else { continue }
        _ = try PlatformSchema.check(own, PlatformSchema.fields(platform))
      }
    } else {
      if try fallback.string("content") == nil { throw fallback.missing("content") }
      _ = try PlatformSchema.check(fallback, PlatformSchema.fallback)
    }
  }
}
