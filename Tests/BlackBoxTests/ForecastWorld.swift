import BorealisBase
import BorealisProtocol
import PushTesting
import Testing

/// A server with simulators in the places of Apple, Google and the makers, an app with a credential for each
/// of them and one with none, and devices of every kind.
final class ForecastWorld {
  /// A kind of device, and what it is there for.
  struct Kind: Sendable {
    let name: String
    var platform = Platform.android
    /// The channel that it has a token for; nil for none.
    var channel: String?
    /// Another one that it has a token for.
    var other: String?
    /// Whether it has reported that it shows no notifications, and by which fact.
    var off: String?
    /// The state of its app while it is connected; nil for a device that is away.
    var connected: AppState?
    /// Whether its app has credentials.
    var hasCredentials = true

    var token: String {
      channel == "apns"
        ? String(repeating: Hex.encode(Array(name.utf8.suffix(4))), count: 8) : "\(name)-token"
    }
  }

  /// A device of a kind.
  final class Device {
    let kind: Kind
    let identity: TestDevice.Identity
    fileprivate var session: TestDevice?
    /// What has come over the direct connection, by push: whether it had a notification.
    fileprivate(set) var arrivals: [String: Bool] = [:]

    fileprivate init(_ kind: Kind, _ identity: TestDevice.Identity) {
      self.kind = kind
      self.identity = identity
    }
  }

  static let channels = [
    "apns", "fcm", "huawei", "honor", "xiaomi", "oppo", "vivo", "meizu", "harmony",
  ]
  private static let secret: JSONValue = "simulator-secret"
  private static let credentials: [(channel: String, fields: JSONValue)] = [
    ("huawei", ["app_id": "1001", "secret": secret]),
    ("honor", ["app_id": "1001", "client_id": "1002", "secret": secret]),
    ("xiaomi", ["package_name": "com.example.robots", "secret": secret]),
    ("oppo", ["app_key": "simulator-key", "master_secret": secret]),
    ("vivo", ["app_id": "1001", "app_key": "simulator-key", "secret": secret]),
    ("meizu", ["app_id": "1001", "secret": secret]), ("harmony", ["client_id": "1001"]),
  ]

  let server: TestServer
  private let app, bare: TestServer.App
  private let folder = TemporaryFolder()
  private let makers: SimulatedMakers
  private let apple: RunningProgram
  private let control: String
  private(set) var devices: [Device] = []

  init(_ kinds: [Kind]) throws {
    let data = folder.file("data")
    makers = try SimulatedMakers(folder)
    apple = try RunningProgram(
      [
        "apns-simulator", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--data",
        folder.file("apple"), "--quiet",
      ], of: RunningProgram.tools)
    let ready = try apple.document()
    func fact(_ name: String) throws -> String { try #require(ready[name]?.string) }
    control = try fact("control")
    app = try TestServer.makeApp("robots", data: data)
    bare = try TestServer.makeApp("bare", data: data)
    try TestServer.setKey(
      try fact("key"), team: try fact("team_id"), topic: try fact("topic"), of: app, data: data)
    let google = ["--fcm-url", makers.url]
    var settings: [[String]] = [
      ["fcm", "--file", try #require(makers.ready["service_accounts"]?.array?.first?.string)] + google
    ]
    for (channel, fields) in Self.credentials {
      try TemporaryFolder.write(JSONWriter.serialize(fields), to: folder.file(channel))
      var arguments = [channel, "--fields", folder.file(channel), "--makers-url", makers.url]
      if channel == "harmony" {
        arguments += ["--file", try #require(makers.ready["harmony_service_account"]?.string)]
      }
      settings.append(arguments)
    }
    for arguments in settings {
      let set = try RunningProgram.run(["app", "channel", "set", app.key] + arguments + ["--data", data])
      try #require(set.status == 0, "\(arguments): \(set.errors)")
    }
    server = try TestServer(
      data: data,
      ["--makers-url", makers.url, "--apns-production", try fact("apns"), "--apns-ca", try fact("ca")]
        + google)
    for one in [app, bare] {
      let wanted: JSONValue = ["wanted": ["notification_permission", "opted_out"]]
      let answer = try server.call("PUT", "/v1/facts/wanted", as: one, body: wanted)
      #expect(answer.status == 200, "\(answer.body)")
    }
    for kind in kinds { devices.append(try device(kind)) }
  }

  private func app(of kind: Kind) -> TestServer.App { kind.hasCredentials ? app : bare }

  // MARK: Devices

  private func device(_ kind: Kind) throws -> Device {
    let app = app(of: kind)
    let identity = try TestDevice.register(
      server.device, app: app.key, install: kind.name, platform: kind.platform)
    func post(_ path: String, _ name: String, _ value: JSONValue) throws {
      var body = JSONObject()
      body.set("app_key", .string(app.key))
      body.set("registration_id", .string(identity.id.text))
      body.set("secret", .string(Hex.encode(identity.secret.bytes)))
      body.set(name, value)
      let answer = try server.call("POST", path, body: .object(body))
      #expect(answer.status == 200, "\(kind.name): \(answer.body)")
    }
    for channel in [kind.channel, kind.other].compactMap({ $0 }) {
      var token = JSONObject()
      token.set("channel", .string(channel))
      token.set("token", .string(kind.token))
      if channel == "apns" { token.set("service", "production") }
      try post("/v1/tokens", "tokens", [.object(token)])
    }
    if let off = kind.off {
      try post("/v1/facts", "facts", off == "opted_out" ? ["opted_out": "yes"] : [off: "off"])
    }
    let device = Device(kind, identity)
    if let state = kind.connected {
      device.session = try TestDevice.login(server.device, app: app.key, identity, appState: state)
    }
    return device
  }

  /// Lets every device connect, and reads what has come for it.
  func readAll() throws {
    for device in devices {
      let app = app(of: device.kind)
      let body: JSONValue = [
        "platform": "all", "audience": ["registration_id": [.string(device.identity.id.text)]],
        "message": ["msg_content": "the last"], "options": ["strategy": 3],
      ]
      let call = try server.call("POST", "/v3/push", as: app, body: body)
      let last = try #require(call.document?["msg_id"]?.string, "\(call.body)")
      // What an app in the background has got waits like what a device that is away has.
      let isThere = device.kind.connected == .foreground
      let session =
        isThere
        ? try #require(device.session) : try TestDevice.login(server.device, app: app.key, device.identity)
      var isLast = false
      while !isLast {
        guard case .push(let arrival) = try session.event() else { continue }
        try session.acknowledge(arrival)
        isLast = arrival.id == last
        if !isLast { device.arrivals[arrival.id] = arrival.content["notification"] != nil }
      }
    }
  }

  // MARK: Pushes

  private func body(_ push: JSONValue, to device: Device?) -> JSONValue {
    var body = push.object ?? JSONObject()
    body.set(
      "audience", device.map { ["registration_id": [.string($0.identity.id.text)]] } ?? "all")
    return .object(body)
  }

  /// The forecast of a push to a device, or to all devices of the app with credentials.
  func forecast(_ push: JSONValue, to device: Device?) throws -> JSONValue {
    let call = try server.call(
      "POST", "/v1/push/forecast", as: device.map { app(of: $0.kind) } ?? app, body: body(push, to: device))
    try #require(call.status == 200, "\(call.body)")
    return try #require(call.document)
  }

  /// Sends it, and waits until all services that get it have answered; nil if it was not accepted.
  func push(_ push: JSONValue, to device: Device) throws -> String? {
    let app = app(of: device.kind)
    let call = try server.call("POST", "/v3/push", as: app, body: body(push, to: device))
    guard call.status == 200 else {
      #expect(call.document?["error"]?["code"] == 1011, "\(call.body)")
      return nil
    }
    let id = try #require(call.document?["msg_id"]?.string)
    let isOver = try RunningProgram.eventually {
      let report = try server.call("GET", "/v1/pushes/\(id)", as: app).document
      return Self.channels.allSatisfy { report?[$0]?["waiting"] ?? 0 == 0 }
    }
    #expect(isOver, "\(device.kind.name): \(id)")
    return id
  }

  /// What "Why?" says went wrong first, and all causes that it names.
  func why(_ id: String, _ device: Device) throws -> (first: String?, all: Set<String>) {
    let path = "/v1/pushes/\(id)/why?registration_id=\(device.identity.id.text)"
    let answer = try server.call("GET", path, as: app(of: device.kind)).document
    let steps = answer?["steps"]?.array ?? []
    let first = steps.first { $0["step"] == answer?["first_failure"] }
    return (first?["cause"]?.string, Set(steps.compactMap { $0["cause"]?.string }))
  }

  // MARK: Services

  /// How many requests to makers and Google there were.
  func mark() throws -> Int64 { try log(since: .max)["last"]?.int64 ?? 0 }

  /// What services were sent of a push for a device since a mark: the channel, and the request.
  func requests(
    of id: String?, to device: Device, since mark: Int64
  ) throws -> [(channel: String, request: JSONValue)] {
    let token = device.kind.token
    let made = (try log(since: mark)["entries"]?.array ?? []).compactMap { entry -> (String, JSONValue)? in
      guard entry["kind"] == "send", let request = entry["request"], request["validate_only"] != true,
        String(decoding: JSONWriter.serialize(request), as: UTF8.self).contains(token)
      else { return nil }
      return (entry["service"]?.string ?? "fcm", request)
    }
    let call = try HTTPCall("GET", "/log?limit=10000", at: control)
    let asked = (call.document?["entries"]?.array ?? []).compactMap { entry -> (String, JSONValue)? in
      guard entry["token"]?.string == token, let payload = entry["payload"],
        payload["_j_msgid"]?.number?.text == id
      else { return nil }
      return ("apns", payload)
    }
    return made + asked
  }

  private func log(since mark: Int64) throws -> JSONValue {
    let call = try HTTPCall(
      "GET", "/control/log?since=\(mark)&limit=1000", at: String(makers.url.dropFirst(7)))
    return try #require(call.document, "\(call.body)")
  }
}
