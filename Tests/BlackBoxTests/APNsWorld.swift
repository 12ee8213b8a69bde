import BorealisBase
import BorealisProtocol
import Glibc
import PushTesting

/// A simulator of Apple's service, a server that sends to it, and an app with devices that are away: each a
/// process of its own.
final class APNsWorld {
  /// What the simulator wrote of a request.
  struct Entry {
    let json: JSONValue
    var isAccepted: Bool { json["accepted"]?.bool ?? false }
    var reason: String? { json["reason"]?.string }
    var status: Int64? { json["status"]?.int64 }
    var apnsID: String { json["apns_id"]?.string ?? "" }
    var token: String { json["token"]?.string ?? "" }
    var collapseID: String? { json["headers"]?["apns-collapse-id"]?.string }
    var text: String? { json["payload"]?["aps"]?["alert"]?.string }
  }

  /// How a push stands at Apple.
  struct Status: Equatable {
    let waiting: Int64
    let results: [String: Int64]

    static let delivered = Status(waiting: 0, results: ["delivered": 1])
  }

  let folder = TemporaryFolder()
  let app: TestServer.App
  private(set) var server: TestServer
  private(set) var devices: [TestDevice.Identity] = []
  private(set) var simulator: RunningProgram?
  private(set) var apns = FixedPort.address()
  private var control = ""
  private var sandbox: RunningProgram?
  private var sandboxAddress: String?
  private let simulatorArguments: [String]
  private let moreSettings: [String]

  private var data: String { folder.path + "/data" }
  private var simulatorData: String { folder.path + "/simulator" }

  /// With one device unless told otherwise; `hasSandbox` starts a simulator of Apple's other service too.
  /// `settings` are more of the server's.
  init(
    devices count: Int = 1, hasSandbox: Bool = false, simulator arguments: [String] = [],
    settings: [String] = []
  ) throws {
    simulatorArguments = arguments
    moreSettings = settings
    app = try TestServer.makeApp("apple", data: folder.path + "/data")
    (simulator, apns, control) = try Self.startSimulator(
      arguments, at: apns, data: folder.path + "/simulator", output: folder.path + "/production")
    if hasSandbox {
      let (program, address, _) = try Self.startSimulator(
        ["--sandbox"], at: "127.0.0.1:0", data: folder.path + "/simulator", output: folder.path + "/sandbox")
      (sandbox, sandboxAddress) = (program, address)
    }
    try Self.setKey(of: app, environment: hasSandbox ? "both" : "production", in: folder.path)
    server = try TestServer(
      data: folder.path + "/data",
      Self.serverArguments(apns, sandboxAddress, authority: folder.path + "/simulator/ca.pem") + settings)
    for number in 0..<count { devices.append(try register(token: Self.token(number))) }
  }

  // MARK: Devices

  /// The token of a device.
  static func token(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "a", count: 64 - digits.count) + digits
  }

  /// Makes a registration of an iPhone whose app does not run.
  func register(
    token: String, fingerprint: String? = nil, of other: TestServer.App? = nil
  ) throws -> TestDevice.Identity {
    guard let key = AppKey(hex: Array((other ?? app).key.utf8)), let bytes = Hex.decode(token) else {
      throw TestDevice.Unexpected()
    }
    let device = try TestDevice(server.device)
    try device.send(
      .register(
        RegisterRequest(
          appKey: key, platform: .ios, fingerprint: Array((fingerprint ?? token).utf8),
          token: DeviceToken(.production, bytes),
          appVersion: "1")))
    guard case .registerOK(let id, let secret) = try device.next() else { throw TestDevice.Unexpected() }
    return TestDevice.Identity(id: id, secret: secret)
  }

  // MARK: Pushes

  /// Pushes a notification and returns its msg_id.
  func push(_ text: String = "hello", to device: Int = 0, options: JSONValue = [:]) throws -> String {
    let body: JSONValue = [
      "platform": ["ios"], "audience": ["registration_id": [.string(devices[device].id.text)]],
      "notification": ["ios": ["alert": .string(text)]], "options": options,
    ]
    let call = try server.call("POST", "/v3/push", as: app, body: body)
    guard call.status == 200, let id = call.document?["msg_id"]?.string else {
      throw RunningProgram.Failure(description: call.body)
    }
    return id
  }

  /// Pushes so many notifications, to one device after the other.
  func push(count: Int) throws -> [String] {
    try (0..<count).map { try push("\($0)", to: $0 % devices.count) }
  }

  /// How a push stands.
  func status(of push: String) throws -> Status {
    let call = try server.call("GET", "/v1/pushes/\(push)", as: app)
    guard let apns = call.document?["apns"], let waiting = apns["waiting"]?.int64,
      let results = apns["results"]?.object
    else { throw RunningProgram.Failure(description: call.body) }
    let pairs = results.members.map { ($0.key, $0.value.int64 ?? 0) }
    return Status(waiting: waiting, results: Dictionary(uniqueKeysWithValues: pairs))
  }

  /// Waits until nothing of a push waits, and tells its outcome.
  func end(of push: String) throws -> Status {
    var last = Status(waiting: -1, results: [:])
    try wait("the end of push \(push)") {
      last = try status(of: push)
      return last.waiting == 0
    }
    return last
  }

  /// Waits patiently: after failures the server itself waits, up to a minute.
  func wait(_ what: String, until holds: () throws -> Bool) throws {
    for _ in 0..<4 where try RunningProgram.eventually(holds) { return }
    throw RunningProgram.Failure(
      description: "in vain for \(what); the server says: \(server.program.errors)")
  }

  /// The state of the way to Apple's production service.
  func service() throws -> JSONValue {
    let call = try server.call("GET", "/v1/apns", as: app)
    guard let state = call.document?["production"] else {
      throw RunningProgram.Failure(description: call.body)
    }
    return state
  }

  /// The value of a metric without labels.
  func metric(_ name: String) throws -> String? {
    let page = try server.call("GET", "/metrics").body
    let line = page.split(separator: "\n").first { $0.hasPrefix(name + " ") }
    return line.map { String($0.dropFirst(name.utf8.count + 1)) }
  }

  /// Waits until no request is under way, so that none is forgotten.
  func waitForRest() throws {
    try wait("the last answer") { try metric("borealis_apns_in_flight") == "0.0" }
  }

  /// `borealis app channel` with a command.
  func credential(_ arguments: [String]) throws -> Ending {
    try RunningProgram.run(["app", "channel"] + arguments + ["--data", data])
  }

  /// Sets the key that the simulator knows.
  func setKey() throws { try Self.setKey(of: app, environment: "production", in: folder.path) }

  private static func setKey(of app: TestServer.App, environment: String, in folder: String) throws {
    try TestServer.setKey(
      folder + "/simulator/AuthKey_DEMOKEY001.p8", team: "DEMOTEAM01", topic: "com.example.app",
      environment: environment, of: app, data: folder + "/data")
  }

  // MARK: The server

  private static func serverArguments(
    _ apns: String, _ sandbox: String?, authority: String
  ) -> [String] {
    ["--apns-production", apns, "--apns-sandbox", sandbox ?? "127.0.0.1:1", "--apns-ca", authority]
  }

  /// Ends the server with a signal and starts it again, trusting this authority instead of the simulator's.
  func restartServer(_ signal: Int32 = SIGTERM, authority: String? = nil) throws {
    server.program.signal(signal)
    _ = try server.program.end()
    server = try TestServer(
      data: data,
      Self.serverArguments(apns, sandboxAddress, authority: authority ?? simulatorData + "/ca.pem")
        + moreSettings)
  }

  /// Starts the server, which has ended, at an address.
  func restart(http address: String) throws {
    server = try TestServer(
      data: data,
      Self.serverArguments(apns, sandboxAddress, authority: simulatorData + "/ca.pem") + moreSettings,
      http: address)
  }

  // MARK: The simulator

  /// Its output goes to a file, which outlives it however it ends.
  private static func startSimulator(
    _ arguments: [String], at address: String, data: String, output: String
  ) throws -> (RunningProgram, apns: String, control: String) {
    let known = Self.lines(output).count
    let program = try RunningProgram(
      ["-c", #"file=$1; shift; exec "$@" >> "$file""#, "sh", output, RunningProgram.tools]
        + ["apns-simulator", "--listen", address, "--control", "127.0.0.1:0", "--data", data] + arguments,
      of: "/bin/sh")
    var ready: JSONValue?
    _ = RunningProgram.eventually {
      ready = Self.lines(output).dropFirst(known).first { $0["event"] == "ready" }
      return ready != nil
    }
    guard let apns = ready?["apns"]?.string, let control = ready?["control"]?.string else {
      throw RunningProgram.Failure(description: program.errors)
    }
    return (program, apns, control)
  }

  private static func lines(_ file: String) -> [JSONValue] {
    let text = TemporaryFolder.read(file)
    // What comes after the last line end is not whole.
    guard let end = text.utf8.lastIndex(of: 10) else { return [] }
    return text[..<end].split(separator: "\n").compactMap { try? parseJSON(Array($0.utf8)) }
  }

  /// All requests so far, also those to earlier processes.
  var entries: [Entry] {
    Self.lines(folder.path + "/production").filter { $0["apns_id"] != nil }.map(Entry.init)
  }

  /// The requests to the other service.
  var sandboxEntries: [Entry] {
    Self.lines(folder.path + "/sandbox").filter { $0["apns_id"] != nil }.map(Entry.init)
  }

  /// Which of them were for a push: its ID is the upper half of theirs.
  static func entries(_ entries: [Entry], of push: String) -> [Entry] {
    guard let id = UInt64(push) else { return [] }
    return entries.filter { entry in
      UInt64(entry.apnsID.filter { $0 != "-" }.prefix(16), radix: 16) == id
    }
  }

  /// How often Apple accepted each push, once it has written that it accepted all of these: it writes after
  /// it has answered.
  func acceptances(of pushes: [String]) throws -> [String: Int] {
    try wait("the simulator's lines") {
      let counts = acceptances
      return pushes.allSatisfy { counts[$0] != nil }
    }
    return acceptances
  }

  /// How often Apple accepted each push, by msg_id.
  var acceptances: [String: Int] {
    var counts: [String: Int] = [:]
    for entry in entries where entry.isAccepted {
      guard let id = UInt64(entry.apnsID.filter({ $0 != "-" }).prefix(16), radix: 16) else { continue }
      counts["\(id)", default: 0] += 1
    }
    return counts
  }

  /// Kills the simulator without warning.
  func killSimulator() throws {
    simulator?.signal(SIGKILL)
    _ = try simulator?.end()
    simulator = nil
  }

  /// Starts it again at the same address.
  func startSimulator() throws {
    (simulator, apns, control) = try Self.startSimulator(
      simulatorArguments, at: apns, data: simulatorData, output: folder.path + "/production")
  }

  /// Calls its control API.
  @discardableResult
  func order(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> JSONValue {
    let text = body.map { String(decoding: JSONWriter.serialize($0), as: UTF8.self) } ?? ""
    let call = try HTTPCall(method, path, at: control, body: text)
    guard call.status == 200, let document = call.document else {
      throw RunningProgram.Failure(description: call.body)
    }
    return document
  }

  /// Adds a rule to its script.
  func script(_ rule: JSONValue) throws { try order("POST", "/script", rule) }

  /// Lets it behave again.
  func endScript() throws { try order("DELETE", "/script") }
}
