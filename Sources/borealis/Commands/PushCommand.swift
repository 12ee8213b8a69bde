import BorealisBase
import Glibc
import HTTP

struct PushCommand: Command {
  static let name = "push"
  static let summary = "Sends a push through the HTTP API of a server."
  static let details = """
    Sends one push and prints the server's response, JSON with the msg_id. Exits with 0 if the push was accepted. Pass the
    master secret in a file or in BOREALIS_MASTER_SECRET, since other users of the machine can read flags.

      borealis push --server http://127.0.0.1:8080 --app-key KEY --master-secret-file FILE --all --alert Hello
    """
  static let operands: [String] = []
  static let settings =
    PushAPI.settings + [
      SettingDefinition(name: "all", valueName: "", help: "To all devices of the app.", kind: .flag),
      SettingDefinition(
        name: "alias", valueName: "A,...", help: "To devices with these aliases.", kind: .list),
      SettingDefinition(
        name: "tag", valueName: "T,...", help: "To devices with any of these tags.", kind: .list),
      SettingDefinition(
        name: "registration-id", valueName: "ID,...", help: "To these registrations.", kind: .list),
      SettingDefinition(
        name: "platform", valueName: "P,...", help: "Only to these platforms: android, ios, hmos, quickapp.",
        default: "all", kind: .list),
      SettingDefinition(name: "alert", valueName: "TEXT", help: "The text of a notification.", kind: .text),
      SettingDefinition(
        name: "message", valueName: "TEXT", help: "The content of a custom message, which the app handles.",
        kind: .text),
      SettingDefinition(
        name: "title", valueName: "TEXT", help: "The title of the notification or message.", kind: .text),
      SettingDefinition(
        name: "encrypt", valueName: "",
        help: "Encrypts text and title for each of the registrations, with their devices' keys.",
        kind: .flag),
      SettingDefinition(
        name: "neutral", valueName: "TEXT",
        help: "With --encrypt: the text to show where the alert cannot be decrypted.",
        default: PushSealing.neutralText, kind: .text),
      SettingDefinition(
        name: "time-to-live", valueName: "SECONDS",
        help: "How long the push is kept for offline devices; the default is one day.",
        kind: .number(0...864_000)),
      SettingDefinition(
        name: "file", valueName: "FILE",
        help: "A complete push object of JPush's API; - reads standard input.",
        kind: .text),
    ]

  static func run(_ input: Input) throws(Failure) {
    let api = try PushAPI(input)
    guard input.settings.flag("encrypt") else {
      return Terminal.print(try api.call("POST", "/v3/push", try body(input)))
    }
    let settings = input.settings
    let devices = settings.list("registration-id")
    guard !devices.isEmpty, !settings.flag("all") else {
      throw .usage("--encrypt is for single devices: give --registration-id")
    }
    for name in ["alias", "tag", "file"] where settings.text(name) != nil {
      throw .usage("--encrypt and --\(name) exclude each other: pass --registration-id")
    }
    guard settings.text("alert") != nil || settings.text("message") != nil else {
      throw .usage("give --alert or --message")
    }
    for device in devices {
      var push = try PushSealing(api: api, settings: settings).push(for: device)
      push.set("platform", platform(settings))
      if let seconds = settings.number("time-to-live"), var options = push["options"]?.object {
        options.set("time_to_live", .number(JSONNumber(seconds)))
        push.set("options", .object(options))
      }
      Terminal.print(try api.call("POST", "/v3/push", JSONWriter.serialize(.object(push))))
    }
  }

  private static func platform(_ settings: Settings) -> JSONValue {
    let platforms = settings.list("platform")
    return platforms == ["all"] ? "all" : list(platforms)
  }

  private static func body(_ input: Input) throws(Failure) -> [UInt8] {
    let settings = input.settings
    let names = ["all", "alias", "tag", "registration-id"].filter { settings.text($0) ?? "false" != "false" }
    let contents = ["alert", "message", "title", "time-to-live"].filter { settings.text($0) != nil }
    if let file = settings.text("file") {
      if let other = (names + contents).first {
        throw .usage("--file holds the whole push: remove --\(other)")
      }
      guard let text = SmallFiles.read(file == "-" ? "/dev/stdin" : file) else {
        throw .usage("--file: cannot read \"\(file)\"")
      }
      return Array(text.utf8)
    }
    guard let audience = names.first else {
      throw .usage("give --all, --alias, --tag, --registration-id or --file")
    }
    guard names.count == 1 else {
      throw .usage("--\(names[0]) and --\(names[1]) exclude each other: pass only one of them")
    }
    guard settings.text("alert") != nil || settings.text("message") != nil else {
      throw .usage("give --alert or --message")
    }
    var push = JSONObject()
    push.set("platform", platform(settings))
    push.set(
      "audience", audience == "all" ? "all" : members([audience.underscored: list(settings.list(audience))]))
    let title = settings.text("title").map { JSONValue.string($0) }
    if let alert = settings.text("alert") { push.set("notification", notification(.string(alert), title)) }
    if let message = settings.text("message") {
      push.set("message", members(["msg_content": .string(message), "title": title]))
    }
    if let seconds = settings.number("time-to-live") {
      push.set("options", ["time_to_live": .number(JSONNumber(seconds))])
    }
    return JSONWriter.serialize(.object(push))
  }

  /// Each platform has its own place for a title.
  private static func notification(_ alert: JSONValue, _ title: JSONValue?) -> JSONValue {
    guard let title else { return ["alert": alert] }
    let own: JSONValue = ["alert": alert, "title": title]
    return ["alert": alert, "android": own, "hmos": own, "ios": ["alert": ["title": title, "body": alert]]]
  }

  private static func list(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

  /// An object of the members that have a value.
  private static func members(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
    var object = JSONObject()
    for (key, value) in members { if let value { object.set(key, value) } }
    return .object(object)
  }
}

/// The HTTP API of a server, called as an app.
struct PushAPI {
  /// Which server, and as which app.
  static let settings = [
    SettingDefinition(
      name: "server", valueName: "URL",
      help: "The address of the HTTP API, such as https://push.example.com.",
      kind: .text),
    SettingDefinition(
      name: "ca", valueName: "FILE", help: "Certificates to trust for https; the default is the system's.",
      kind: .text),
    SettingDefinition(name: "app-key", valueName: "KEY", help: "The app's key.", kind: .text),
    SettingDefinition(
      name: "master-secret", valueName: "SECRET", help: "The app's master secret.", kind: .secret),
  ]

  private let server: ServerURL
  private let authorization: String
  private let caFile: String?

  init(_ input: Input) throws(Failure) {
    server = try ServerURL(try input.required("server"))
    let key = try input.required("app-key")
    guard let secret = input.settings.text("master-secret") else {
      throw .usage("give --master-secret-file or BOREALIS_MASTER_SECRET")
    }
    authorization = "Basic " + Base64.encode(Array("\(key):\(secret)".utf8))
    caFile = input.settings.text("ca")
  }

  /// The answer, if it is a success.
  func call(_ method: String, _ target: String, _ body: [UInt8] = []) throws(Failure) -> JSONValue {
    var request = HTTPRequest(method: method, target: target, body: body)
    request.headers.append("Authorization", authorization)
    request.headers.append("Content-Type", "application/json")
    let response = try HTTPClient.send(request, to: server, caFile: caFile)
    let answer = try? parseJSON(response.body)
    guard response.status == 200, let answer else {
      let error = answer?["error"]
      let code = error?["code"]?.int64.map { ", code \($0)" } ?? ""
      throw .failed("refused (status \(response.status)\(code)): \(error?["message"]?.string ?? "no reason")")
    }
    return answer
  }
}

extension String {
  /// A setting's name in the spelling of the API.
  fileprivate var underscored: String { String(map { $0 == "-" ? "_" : $0 }) }
}
