import BorealisBase
import Glibc

struct ServeCommand: Command {
  static let name = "serve"
  static let summary = "Runs the server."
  static let details = """
    Serves until SIGTERM or SIGINT. When it is ready it prints one line of JSON with its addresses, with the port that the
    system chose instead of port 0. Logs go to standard error.

    At SIGTERM it accepts no more connections, finishes requests, tells the devices to reconnect, and exits with status 0;
    a second signal ends it immediately, and so does the first one while it still reads its data. At SIGHUP it reads the TLS
    certificate again.
    """
  static let operands: [String] = []
  static let settings = ServeSettings.definitions

  static func run(_ input: Input) throws(Failure) {
    let settings: ServeSettings
    do throws(Failure) { settings = try ServeSettings(input) } catch {
      // It may be what is missing.
      Program.complainOfStrayVariables()
      throw error
    }
    let limits = try ConnectionLimits(settings)
    warnOfStrayVariables(settings.log)
    let signals = try Signals()
    try startOutput(settings.log)
    var made: Server?
    try signals.endingProcess { () throws(Failure) in
      try settings.folder.create()
      try settings.folder.lock(reading: settings.secretKeyFile)
      made = try Server(settings, limits: limits)
    }
    guard let server = made else { return }
    try server.start()
    Terminal.print(server.readyLine)
    ServiceManager.ready()
    serve(server, until: signals)
    ServiceManager.stopping()
    let reason = server.lastingFailure
    server.drain()
    // Without the handlers of `exit`, which tear down what other threads still use.
    let failure = reason ?? server.lastingFailure
    if let failure { Terminal.complain("borealis: \(failure)") }
    Terminal.flush()
    _exit(failure == nil ? 0 : 1)
  }

  /// From now on nobody waits for those who read the log, or who have stopped reading it.
  private static func startOutput(_ log: Log) throws(Failure) {
    do throws(SystemThread.Failure) {
      try OutputQueue.standardOutput.start("output") { _ in [] }
      try OutputQueue.standardError.start("log") {
        log.line(.warning, "log lines were dropped", ["lines": .number(Int64(clamping: $0))])
      }
    } catch {
      throw .failed("cannot start a thread: \(SystemCalls.reason(error.number))")
    }
  }

  private static func warnOfStrayVariables(_ log: Log) {
    for variable in Program.strayVariables {
      guard let near = variable.near else {
        log.warning("unknown environment variable", ["name": .text(variable.name)])
        continue
      }
      log.warning(
        "unknown environment variable", ["name": .text(variable.name), "did_you_mean": .text(near)])
    }
  }

  /// The main thread's work: signals, and what is due once a second or a few times.
  private static func serve(_ server: Server, until signals: borrowing Signals) {
    var quarters = 0
    while true {
      switch signals.wait(milliseconds: 250) {
      case .stop:
        signals.restoreDefaults()
        return
      case .reload: server.reload()
      case nil:
        server.flush()
        quarters += 1
        guard quarters % 4 == 0 else { continue }
        server.tick()
        guard server.lastingFailure == nil else { return }
      }
    }
  }
}
