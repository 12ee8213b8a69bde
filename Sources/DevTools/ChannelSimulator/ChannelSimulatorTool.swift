import BorealisBase
import BorealisCrypto
import BorealisNet
import CLinux
import Glibc
import HTTP
import Synchronization

/// The simulator of vendors' services as a command: from its settings to its end by a signal.
package enum ChannelSimulatorTool: Tool {
  package static let name = "channel-simulator"
  /// One phrase for lists of programs.
  package static let summary =
    "Simulates vendors' push services on this machine, with failures on request."
  /// The help text beyond the settings.
  package static let details = """
    Accepts messages over HTTP as fcm.googleapis.com does, hands out tokens of access as oauth2.googleapis.com does, and makes
    their checks. When it is ready it prints one line of JSON with its address and the key files of service accounts that an
    app server needs; a server is pointed to it with --fcm-url and --web-push-url. It is a push service of browsers (RFC 8030) as
    well, with browsers that subscribe on request and open what they get. It is the service of Huawei, Honor, Xiaomi, OPPO,
    vivo and Meizu, too, with --makers-url, for the app 1001, com.example.robots or simulator-key with the secret
    simulator-secret, and that of HarmonyOS for a service account whose file it writes. Then it prints one line for each
    request. Below /control/ tests can set the state of tokens, script failures and read the requests. It exits at SIGTERM or
    SIGINT.
    """

  /// All settings with their help.
  package static let settings = [
    SettingDefinition(
      name: "listen", valueName: "HOST:PORT", help: "The address for requests and control.",
      default: "127.0.0.1:2199", kind: .address),
    SettingDefinition(
      name: "anywhere", valueName: "",
      help:
        "Allows addresses other than this machine's: whoever reaches one can change what the simulator does.",
      kind: .flag),
    SettingDefinition(
      name: "data", valueName: "DIR", help: "The folder for the key files, which are created if missing.",
      default: "channel-simulator", kind: .text),
    SettingDefinition(
      name: "project", valueName: "NAME", help: "The projects that exist, separated by commas.",
      default: "demo-project", kind: .list),
    SettingDefinition(
      name: "access-seconds", valueName: "N", help: "How long a token of access is good.", default: "3599",
      kind: .number(1...3600)),
    SettingDefinition(
      name: "keep", valueName: "N", help: "How many requests the log of the control API holds.",
      default: "10000", kind: .number(1...1_000_000)),
    SettingDefinition(name: "quiet", valueName: "", help: "Prints no line for each request.", kind: .flag),
  ]

  package static let operand: String? = nil

  package static func run(_ operand: String, _ settings: Settings) throws(ToolFailure) {
    let signals = cl_signal_fd()
    guard signals >= 0 else { throw .failed("cannot listen for signals: \(SystemCalls.reason(-signals))") }
    let (socket, url) = try listen(settings)
    let folder = settings.text("data") ?? ""
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw .failed("cannot make \(folder): \(SystemCalls.reason(errno))")
    }
    var accounts: [FCMAccount] = []
    var files: [JSONValue] = []
    for project in settings.list("project") {
      let account = try account(of: project)
      let path = "\(folder)/service-account-\(project).json"
      try write(try? account.file(tokenURL: url + "/token"), path)
      accounts.append(account)
      files.append(.string(path))
    }
    let harmony = HarmonySimulatorAccount(try newKey())
    let harmonyFile = "\(folder)/harmony-service-account.json"
    try write(try? harmony.file(), harmonyFile)
    try start(settings, socket, accounts, harmony, url)
    let line: JSONValue = [
      "event": "ready", "pid": .number(JSONNumber(getpid())), "url": .string(url),
      "service_accounts": .array(files), "harmony_service_account": .string(harmonyFile),
    ]
    output(line)
    wait(for: signals)
  }

  private static func listen(
    _ settings: Settings
  ) throws(ToolFailure) -> (socket: Int32, url: String) {
    guard let wanted = settings.address("listen") else { throw .usage("--listen is missing") }
    let isLoopback = wanted.host == "localhost" || wanted.host == "::1" || wanted.host.hasPrefix("127.")
    guard isLoopback || settings.flag("anywhere") else {
      throw .usage(
        "--listen: whoever reaches \(wanted.host) could change what the simulator does; --anywhere allows it")
    }
    let host = wanted.host.contains(":") ? "[\(wanted.host)]" : wanted.host
    let socket = cl_listen(wanted.host, wanted.port, 1024, 0)
    guard socket >= 0 else {
      throw .failed("--listen: cannot listen on \(host):\(wanted.port): \(SystemCalls.reason(-socket))")
    }
    return (socket, "http://\(host):\(cl_local_port(socket))")
  }

  private static func account(of project: String) throws(ToolFailure) -> FCMAccount {
    FCMAccount(project: project, key: try newKey(), keyID: Hex.encode(SystemRandom.bytes(20)))
  }

  private static func newKey() throws(ToolFailure) -> RSAKey {
    do throws(CredentialFileError) { return try RSAKey.generate() } catch {
      throw .failed("cannot make a key: \(error)")
    }
  }

  /// New keys at each start: nothing else knows them.
  private static func write(_ contents: [UInt8]?, _ path: String) throws(ToolFailure) {
    guard let bytes = contents else { throw .failed("cannot write a key") }
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .failed("cannot write \(path): \(SystemCalls.reason(errno))") }
    defer { close(file) }
    guard SystemCalls.writeAll(bytes, to: file) else {
      throw .failed("cannot write \(path): \(SystemCalls.reason(errno))")
    }
  }

  private static func start(
    _ settings: Settings, _ socket: Int32, _ accounts: [FCMAccount], _ harmony: HarmonySimulatorAccount,
    _ url: String
  ) throws(ToolFailure) {
    let lifetime = Int64(settings.number("access-seconds") ?? 3599)
    let kept = settings.number("keep") ?? 10_000
    let isQuiet = settings.flag("quiet")
    let started = Semaphore()
    let failure = Mutex<SystemError?>(nil)
    var options = HTTPTransport.Options()
    options.allowsPlainHTTP = true
    guard let transport = HTTPTransport(options, thread: "receipts") else {
      throw .failed("cannot start the thread that sends receipts")
    }
    do throws(SystemError) {
      let handle = try LoopHandle(index: 0)
      try handle.start { loop throws(SystemError) in
        let simulator = FCMSimulator(
          FCMAccounts(accounts, tokenURL: url + "/token", lifetime: lifetime), harmony,
          projects: accounts.map(\.project), origin: url, keeping: kept
        ) { if !isQuiet { output($0) } }
        let time = SystemTime()
        let server = HTTPServer(loop: loop) { request, exchange in
          switch simulator.receipts(request, at: time.now()) {
          case nil: break
          case .success(let receipts)?: return receipts.send(with: transport) { exchange.respond($0) }
          case .failure(let fault)?:
            return exchange.respond(Control.response(400, ["error": .string(fault.message)]))
          }
          if let response = simulator.handle(request, at: time.now()) { exchange.respond(response) }
        }
        try loop.listen(socket) { server.accept($0) }
        started.signal()
      } failed: { error in
        failure.withLock { $0 = error }
        started.signal()
      }
    } catch {
      throw .failed("\(error.call): \(SystemCalls.reason(error.number))")
    }
    started.wait()
    if let error = failure.withLock({ $0 }) {
      throw .failed("\(error.call): \(SystemCalls.reason(error.number))")
    }
  }

  /// A reader that is gone is no reason to stop serving.
  @Sendable private static func output(_ line: JSONValue) {
    _ = SystemCalls.writeAll(JSONWriter.serialize(line) + [10], to: STDOUT_FILENO)
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
