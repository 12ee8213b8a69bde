import BorealisBase
import BorealisCrypto
import HTTP

/// The service account that the simulator's project of HarmonyOS has.
struct HarmonySimulatorAccount {
  /// The app's client, which recalls name. Docs/channel-simulator.md names it and the project.
  static let client = "1001"
  private static let audience = "https://oauth-login.cloud.huawei.com/oauth2/v3/token"
  /// The project, the account and the key's ID.
  private let project = MakerAccounts.project
  private let account = "100200"
  private let keyID = "simulator-key"
  private let key: RSAKey

  init(_ key: RSAKey) { self.key = key }

  /// The file as Huawei issues it.
  func file() throws(CredentialFileError) -> [UInt8] {
    JSONWriter.serialize([
      "project_id": .string(project), "key_id": .string(keyID), "private_key": .string(try key.pem()),
      "sub_account": .string(account), "auth_uri": "https://oauth-login.cloud.huawei.com/oauth2/v3/authorize",
      "token_uri": .string(Self.audience),
    ])
  }

  /// Checks a token of the account; gives the code with which Push Kit refuses it.
  func refusal(_ request: HTTPRequest, at now: Int64) -> (code: Int64, text: String)? {
    let bad: Int64 = 80_200_001
    guard let value = request.headers["authorization"], value.hasPrefix("Bearer ") else {
      return (bad, "no token")
    }
    let parts = value.dropFirst(7).split(separator: ".", omittingEmptySubsequences: false)
    let decoded = parts.compactMap { Base64.decodeURL($0.utf8) }
    guard parts.count == 3, decoded.count == 3, let header = (try? parseJSON(decoded[0]))?.object,
      let claims = (try? parseJSON(decoded[1]))?.object
    else { return (bad, "no JWT") }
    guard header["alg"] == "PS256", header["typ"] == "JWT", header["kid"]?.string == keyID else {
      return (bad, "the header")
    }
    let signed = Array("\(parts[0]).\(parts[1])".utf8)
    guard key.publicKey.isValid(signature: decoded[2], of: signed, .ps256) else {
      return (bad, "the signature")
    }
    guard claims["iss"]?.string == account, claims["aud"]?.string == Self.audience,
      let issued = claims["iat"]?.int64, let end = claims["exp"]?.int64, issued <= now + 300, issued > 0
    else { return (bad, "the claims") }
    guard end - issued <= 86_400 else { return (80_300_036, "good for more than a day") }
    return end > now ? nil : (80_200_005, "the token has expired")
  }
}

/// Push Kit of HarmonyOS, version 3, and its call for recalls.
extension FCMSimulator {
  /// Answers a request; nil if no answer comes. `path` begins with the service.
  func harmony(_ request: HTTPRequest, _ path: [String], _ now: Timestamp) -> HTTPResponse? {
    let isRecall = path.last == "messages:revoke"
    var entry = begin(isRecall ? "recall" : "send", at: now)
    entry.set("service", "harmony")
    let type = request.headers["push-type"]
    if let type { entry.set("push_type", .string(type)) }
    let body = try? parseJSON(request.body)
    if let body { entry.set("request", body) }
    if let refusal = harmonyAccount.refusal(request, at: now.seconds) {
      return answer(entry, SimulatedMakerRules.answer("harmony", 401, refusal.code, refusal.text))
    }
    if isRecall {
      guard path == ["harmony", "v1", HarmonySimulatorAccount.client, "messages:revoke"] else {
        return answer(entry, SimulatedMakerRules.answer("harmony", 404, 404, "no such app"))
      }
      guard type == "0" || type == "2" else {
        return answer(entry, SimulatedMakerRules.answer("harmony", 400, 80_100_001, "push-type"))
      }
      return recall(entry, body)
    }
    let tokens = body?["target"]?["token"]?.array?.compactMap(\.string) ?? []
    if let rule = rule(of: tokens) {
      let code = rule.code.flatMap { Int64($0) } ?? Int64(rule.status)
      return follow(
        rule, entry, SimulatedMakerRules.answer("harmony", rule.status, code, "as the script says").body)
    }
    do throws(SimulatedMakerRules.Fault) {
      guard path == ["harmony", "v3", MakerAccounts.project, "messages:send"] else {
        throw SimulatedMakerRules.Fault(message: "no such project or path", status: 404, code: 404)
      }
      try HarmonyRules.check(request, body, tokens, type)
    } catch {
      return answer(entry, SimulatedMakerRules.answer("harmony", error.status, error.code, error.message))
    }
    return answer(entry, HarmonyRules.answer(tokens) { self.state(of: $0) })
  }

  /// Answers a call that takes a notification back, after the checks of who calls: the same for Android and
  /// for HarmonyOS.
  func recall(_ entry: JSONObject, _ body: JSONValue?) -> HTTPResponse? {
    if let rule = rule(.recall, nil) {
      let code = rule.code.flatMap { Int64($0) } ?? Int64(rule.status)
      return follow(
        rule, entry, SimulatedMakerRules.answer("harmony", rule.status, code, "as the script says").body)
    }
    let object = body?.object
    let tokens = object?["token"]?.array ?? []
    guard let object, object.count == 2, let number = object["notifyId"]?.int64,
      (0...2_147_483_647).contains(number), (1...1000).contains(tokens.count),
      tokens.allSatisfy({ $0.string != nil })
    else {
      return answer(entry, SimulatedMakerRules.answer("harmony", 400, 80_100_001, "notifyId and token"))
    }
    return answer(entry, SimulatedMakerRules.answer("harmony", 200, 80_000_000, "Success"))
  }
}

/// What Push Kit takes for HarmonyOS, and how it answers.
enum HarmonyRules {
  private typealias Fault = SimulatedMakerRules.Fault

  /// What becomes of tokens of a good message: bad ones stand by reason.
  static func answer(_ tokens: [String], _ state: (String) -> FCMSimulator.TokenState) -> FCMAnswer {
    var groups = JSONObject()
    var count = 0
    for (reason, kind) in [
      ("tokenFormatError", FCMSimulator.TokenState.malformed), ("tokenPlatformNotSupport", .unregistered),
      ("noRight", .foreign),
    ] {
      let bad = tokens.filter { state($0) == kind }
      guard !bad.isEmpty else { continue }
      groups.set(reason, .array(bad.map { .string($0) }))
      count += bad.count
    }
    if count == 0 { return SimulatedMakerRules.answer("harmony", 200, 80_000_000, "Success") }
    let text = JSONWriter.serialize([
      "success": .number(JSONNumber(tokens.count - count)), "failure": .number(JSONNumber(count)),
      "illegalTokens": .object(groups),
    ])
    return SimulatedMakerRules.answer(
      "harmony", 200, count == tokens.count ? 80_300_007 : 80_100_000, String(decoding: text, as: UTF8.self))
  }

  /// Checks a message as strictly as the service does, or more.
  static func check(
    _ request: HTTPRequest, _ body: JSONValue?, _ tokens: [String], _ type: String?
  ) throws(SimulatedMakerRules.Fault) {
    guard let body = body?.object else { throw Fault(message: "no JSON", code: 80_100_003) }
    guard let type, ["0", "1", "2", "6", "7", "10"].contains(type) else { throw Fault(message: "push-type") }
    try SimulatedMakerRules.object(body, "", ["payload", "target", "pushOptions"])
    guard let payload = body["payload"]?.object, let target = body["target"]?.object else {
      throw Fault(message: "payload and target")
    }
    try SimulatedMakerRules.object(target, "target", ["token"])
    let options = body["pushOptions"]?.object ?? JSONObject()
    try check(options: options, type)
    let most = type == "1" ? 1 : options["testMessage"] == true ? 10 : 1000
    guard (1...most).contains(tokens.count), Set(tokens).count == tokens.count else {
      throw Fault(message: "1 to \(most) different tokens", code: 80_300_010)
    }
    let size = request.body.count - tokens.reduce(-1) { $0 + $1.utf8.count + 3 }
    guard size <= 4096 else { throw Fault(message: "\(size) bytes without tokens", code: 80_300_008) }
    try check(payload: payload, type)
  }

  private static func check(options: JSONObject, _ type: String) throws(SimulatedMakerRules.Fault) {
    try SimulatedMakerRules.object(
      options, "pushOptions",
      ["testMessage", "ttl", "biTag", "receiptId", "collapseKey", "backgroundMode"])
    let life: ClosedRange<Int64> = type == "10" ? 30...60 : 1...1_296_000
    if let ttl = options["ttl"], ttl.int64.map(life.contains) != true { throw Fault(message: "ttl") }
    if let tag = options["biTag"], (tag.string?.utf8.count ?? 65) > 64 { throw Fault(message: "biTag") }
    if let test = options["testMessage"], test.bool == nil { throw Fault(message: "testMessage") }
    if let receipt = options["receiptId"], receipt.string == nil { throw Fault(message: "receiptId") }
  }

  private static let members: [String: (needed: [String], allowed: Set<String>)] = [
    "0": (["notification"], ["notification"]),
    "2": (["notification", "extraData"], ["notification", "extraData"]),
    "6": (["extraData"], ["extraData", "proxyData"]), "10": (["extraData"], ["extraData"]),
    "1": (
      ["formId", "version", "moduleName", "formName", "abilityName", "formData"],
      ["formId", "version", "moduleName", "formName", "abilityName", "formData", "images"]
    ),
    "7": (
      ["activityId", "operation", "event", "status"],
      ["activityId", "operation", "event", "status", "version", "activityData", "mute", "notification"]
    ),
  ]

  private static func check(payload: JSONObject, _ type: String) throws(SimulatedMakerRules.Fault) {
    guard let (needed, allowed) = members[type] else { return }
    try SimulatedMakerRules.object(payload, "payload", allowed)
    for name in needed where payload[name] == nil { throw Fault(message: "payload.\(name) is missing") }
    if let extra = payload["extraData"], extra.string?.isEmpty != false { throw Fault(message: "extraData") }
    guard ["0", "2"].contains(type) else { return }
    guard let shown = payload["notification"]?.object else { throw Fault(message: "notification") }
    try check(shown, isExtension: type == "2")
  }

  private static let categories = [
    "IM", "VOIP", "MISS_CALL", "SUBSCRIPTION", "TRAVEL", "HEALTH", "WORK", "ACCOUNT", "EXPRESS", "FINANCE",
    "DEVICE_REMINDER", "MAIL", "MARKETING",
  ]

  private static func check(_ shown: JSONObject, isExtension: Bool) throws(SimulatedMakerRules.Fault) {
    try SimulatedMakerRules.object(
      shown, "notification",
      [
        "category", "title", "body", "clickAction", "image", "style", "inboxContent", "notifyId",
        "appMessageId", "profileId", "badge", "sound", "soundDuration", "foregroundShow",
      ])
    for name in ["title", "body"] where shown[name]?.string?.isEmpty != false {
      throw Fault(message: "\(name) is missing")
    }
    let category = shown["category"]?.string ?? ""
    guard categories.contains(category) || isExtension && category == "PLAY_VOICE" else {
      throw Fault(message: "category")
    }
    if let image = shown["image"], image.string?.hasPrefix("https://") != true {
      throw Fault(message: "image")
    }
    switch shown["style"]?.int64 ?? 0 {
    case 0: break
    case 3:
      guard let lines = shown["inboxContent"]?.array, (1...3).contains(lines.count) else {
        throw Fault(message: "style 3 without inboxContent")
      }
    default: throw Fault(message: "style")
    }
    try check(click: shown["clickAction"]?.object)
    try number(shown, "notifyId", 0...2_147_483_647)
    try number(shown, "soundDuration", 1...60)
    if let badge = shown["badge"] {
      guard let badge = badge.object, !badge.isEmpty else { throw Fault(message: "badge") }
      try SimulatedMakerRules.object(badge, "badge", ["addNum", "setNum"])
      try number(badge, "addNum", 1...99)
      try number(badge, "setNum", 0...99)
    }
    if let id = shown["appMessageId"] {
      let isGood = id.string?.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
          || "+/=-_ ".utf8.contains(byte)
      }
      guard isGood == true, (1...64).contains(id.string?.utf8.count ?? 0) else {
        throw Fault(message: "appMessageId")
      }
    }
  }

  private static func check(click: JSONObject?) throws(SimulatedMakerRules.Fault) {
    guard let click else { throw Fault(message: "clickAction is missing") }
    try SimulatedMakerRules.object(click, "clickAction", ["actionType", "action", "uri", "data"])
    let isPage = click["action"]?.string != nil || click["uri"]?.string != nil
    guard click["data"] == nil || click["data"]?.object != nil,
      click["actionType"] == 0 && !isPage || click["actionType"] == 1 && isPage
    else { throw Fault(message: "clickAction") }
  }

  private static func number(
    _ object: JSONObject, _ name: String, _ range: ClosedRange<Int64>
  ) throws(SimulatedMakerRules.Fault) {
    guard let value = object[name] else { return }
    guard value.int64.map(range.contains) == true else { throw Fault(message: name) }
  }
}
