import BorealisBase
import BorealisNet
import CLinux
import Glibc
import Synchronization

/// The simulator of APNs as a command: from its settings to its end by a signal.
package enum APNsSimulatorTool: Tool {
  package static let name = "apns-simulator"
  /// One phrase for lists of programs.
  package static let summary =
    "Simulates Apple's push service (APNs) on this machine, with failures on request."
  /// The help text beyond the settings.
  package static let details = """
    Accepts pushes over HTTP/2 as api.push.apple.com does, makes the checks of APNs, and responds with Apple's reasons.
    When it is ready it prints one line of JSON with its addresses and the files that a provider needs: the CA to trust, a
    key (.p8) and a client certificate (.p12). Then it prints one line for each request. With --control, tests can set the
    state of device tokens, script failures and read the requests. It exits at SIGTERM or SIGINT.
    """

  package static let operand: String? = nil
  package static let settings = SimulatorSettings.definitions

  package static func run(_ operand: String, _ settings: Settings) throws(ToolFailure) {
    let signals = cl_signal_fd()
    guard signals >= 0 else { throw .failed("cannot listen for signals: \(SystemCalls.reason(-signals))") }
    let files = try DemoFiles(folder: settings.text("data"))
    defer { files.remove() }
    let key = try files.fill(names: settings.list("name"))
    let rules = try SimulatorSettings.rules(settings, demoKey: key)
    let tls = try tls(settings, files)
    let ports = try Ports(settings)
    try start(settings, rules, tls, ports)
    output(JSONWriter.serialize(readyLine(settings, files, ports)) + [10])
    wait(for: signals)
  }

  private static func tls(_ settings: Settings, _ files: DemoFiles) throws(ToolFailure) -> TLSContext {
    let certificate = settings.text("certificate")
    let key = settings.text("certificate-key")
    guard (certificate == nil) == (key == nil) else {
      throw .usage("--certificate and --certificate-key go together")
    }
    do throws(TLSError) {
      return try TLSContext.server(
        identity: .files(
          certificatePath: certificate ?? files.certificate, keyPath: key ?? files.certificateKey),
        protocols: ["h2"], clients: .optional(.file(files.authorityCertificate)))
    } catch {
      throw .failed(error.description)
    }
  }

  private static func start(
    _ settings: Settings, _ rules: APNsRules, _ tls: TLSContext, _ ports: Ports
  ) throws(ToolFailure) {
    let lines: (@Sendable ([UInt8]) -> Void)? = settings.flag("quiet") ? nil : output
    let kept = settings.number("keep") ?? 10_000
    let streams = UInt32(settings.number("streams") ?? 1000)
    let started = Semaphore()
    let failure = Mutex<SystemError?>(nil)
    do throws(SystemError) {
      let handle = try LoopHandle(index: 0)
      try handle.start { loop throws(SystemError) in
        let simulator = Simulator(rules: rules, log: SimulatorLog(capacity: kept))
        simulator.policy.streams = streams
        _ = try SimulatorLoop(
          loop: loop, simulator: simulator, tls: tls, sockets: ports.sockets, print: lines)
        started.signal()
      } failed: { error in
        failure.withLock { $0 = error }
        started.signal()
      }
    } catch {
      throw .failed("\(error.call): \(error)")
    }
    started.wait()
    if let error = failure.withLock({ $0 }) { throw .failed("\(error.call): \(error)") }
  }

  private static func readyLine(_ settings: Settings, _ files: DemoFiles, _ ports: Ports) -> JSONValue {
    var line = JSONObject()
    line.set("event", "ready")
    line.set("pid", .number(JSONNumber(getpid())))
    line.set("apns", .string(ports.apns))
    if let control = ports.control { line.set("control", .string(control)) }
    line.set("environment", .string(settings.flag("sandbox") ? "sandbox" : "production"))
    line.set("ca", .string(files.authorityCertificate))
    line.set("key", .string(files.providerKey))
    line.set("key_id", .string(DemoFiles.keyID))
    line.set("team_id", .string(DemoFiles.teamID))
    line.set("client_certificate", .string(files.clientCertificate))
    line.set("client_certificate_password", .string(DemoFiles.password))
    line.set("topic", .string(DemoFiles.bundleID))
    return .object(line)
  }

  /// A reader that is gone is no reason to stop serving.
  @Sendable private static func output(_ bytes: [UInt8]) {
    _ = SystemCalls.writeAll(bytes, to: STDOUT_FILENO)
  }

  private static func wait(for signals: Int32) {
    while true {
      var poll = pollfd(fd: signals, events: Int16(POLLIN), revents: 0)
      guard Glibc.poll(&poll, 1, -1) > 0 else { continue }
      switch cl_signal_next(signals) {
      case SIGTERM, SIGINT: return
      default: continue
      }
    }
  }
}
