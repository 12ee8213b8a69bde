import BorealisBase
import CLinux
import Glibc

/// Our own server: the running program as `borealis serve` on a temporary data folder.
final class BorealisServer {
  let folder: String
  let apps: [BorealisApp]
  private(set) var process: ServerProcess
  private(set) var http: Endpoint
  private(set) var device: Endpoint
  private(set) var devicePlain: Endpoint
  /// Seconds from the start of the process to its ready line.
  private(set) var startSeconds: Double
  private let environment: BenchEnvironment
  private let arguments: [String]

  /// The first of the apps.
  var appKey: AppKey { apps[0].key }
  var secret: String { apps[0].secret }

  /// Makes a data folder with an app, lets `prepare` change the database, and starts a server on it with more
  /// arguments.
  convenience init(
    _ environment: BenchEnvironment, folder name: String = "data", arguments: [String] = [],
    prepare: (BorealisApp) throws(BenchError) -> Void = { _ throws(BenchError) in }
  ) throws(BenchError) {
    let app = try BorealisApp.create(environment, folder: environment.workspace.path + "/" + name)
    try prepare(app)
    try self.init(environment, apps: [app], arguments: arguments)
  }

  /// Starts a server on the data folder that these apps are in.
  init(
    _ environment: BenchEnvironment, apps: [BorealisApp], arguments: [String] = []
  ) throws(BenchError) {
    guard let first = apps.first else { throw .unexpected("a server without an app") }
    self.environment = environment
    self.arguments = arguments
    self.apps = apps
    folder = first.folder
    let started = try Self.launch(environment, folder, arguments, http: 0, device: 0, devicePlain: 0)
    (process, http, device, devicePlain, startSeconds) = started
  }

  /// Starts it again, after `process` has ended, on the same ports.
  func restart() throws(BenchError) {
    let started = try Self.launch(
      environment, folder, arguments, http: http.port, device: device.port, devicePlain: devicePlain.port)
    (process, http, device, devicePlain, startSeconds) = started
  }

  private typealias Started = (ServerProcess, Endpoint, Endpoint, Endpoint, Double)

  private static func launch(
    _ environment: BenchEnvironment, _ folder: String, _ more: [String], http: UInt16, device: UInt16,
    devicePlain: UInt16
  ) throws(BenchError) -> Started {
    // All devices here share one address, and there they register within seconds: limits that are right for
    // unauthenticated connections would only measure themselves.
    let arguments = [
      "serve", "--data", folder, "--http", "127.0.0.1:\(http)", "--device", "127.0.0.1:\(device)",
      "--device-plain", "127.0.0.1:\(devicePlain)", "--network-registrations", "100000000",
      "--network-strangers", "1000000", "--ack-delay", "1s", "--log-level", "warning",
    ]
    let start = cl_monotonic_ns()
    let process = try environment.start(environment.server, arguments + more)
    let line = try process.readLine(seconds: 120)
    let seconds = Double(cl_monotonic_ns() - start) / 1e9
    guard let ready = try? parseJSON(Array(line.utf8)), let http = endpoint(ready["http"]),
      let device = endpoint(ready["device"]), let devicePlain = endpoint(ready["device_plain"])
    else { throw .unexpected("the server's ready line: \(line)") }
    return (process, http, device, devicePlain, seconds)
  }

  /// What the ready line says about a listener.
  static func endpoint(_ value: JSONValue?) -> Endpoint? {
    value?.string?.split(separator: ":").last.flatMap { UInt16($0) }.map { Endpoint(port: $0) }
  }
}

/// An app that was made for a measurement.
struct BorealisApp {
  let key: AppKey
  let secret: String
  /// The data folder.
  let folder: String
  /// Path of the database file.
  var database: String { folder + "/borealis.sqlite" }

  static func create(_ environment: BenchEnvironment, folder: String) throws(BenchError) -> BorealisApp {
    _ = try ServerProcess.firstLine(
      environment.server, ["init", "--data", folder], executable: environment.executable,
      log: environment.workspace.path + "/servers.log")
    let line = try ServerProcess.firstLine(
      environment.server, ["app", "create", "bench", "--data", folder],
      executable: environment.executable, log: environment.workspace.path + "/servers.log")
    guard let made = try? parseJSON(Array(line.utf8)),
      let key = made["app_key"]?.string.flatMap({ AppKey($0) }),
      let secret = made["master_secret"]?.string
    else { throw .unexpected("borealis app create says: \(line)") }
    return BorealisApp(key: key, secret: secret, folder: folder)
  }
}
