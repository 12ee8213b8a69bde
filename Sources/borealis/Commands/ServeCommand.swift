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
    certificate again, or tries again to obtain one if it has failed to.
    """
  static let operands: [String] = []
  static let settings = ServeSettings.definitions

  static func run(_ input: Input) throws(Failure) {
    let predecessor = try Predecessor.find()
    do throws(Failure) { try run(input, after: predecessor) } catch {
      predecessor?.refuse(error.message)
      throw error
    }
  }

  private static func run(_ input: Input, after predecessor: Predecessor?) throws(Failure) {
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
      let locks =
        if let predecessor {
          try predecessor.acceptOffer(settings)
        } else {
          try settings.folder.lock(reading: settings.secretKeyFile)
        }
      made = try Server(
        settings, limits: limits, takeover: Takeover(locks: locks, predecessor: predecessor))
    }
    guard let server = made else { return }
    try server.start()
    Terminal.print(server.readyLine)
    ServiceManager.ready()
    serve(server, until: signals)
    if server.takeover.hasFollower {
      let isPassedOn = passOn(signals, of: server)
      server.leave()
      // Meanwhile another one may have come.
      if !isPassedOn { _ = passOn(signals, of: server) }
      end(server)
    }
    ServiceManager.stopping()
    let reason = server.lastingFailure
    server.drain()
    // Without the handlers of `exit`, which tear down what other threads still use.
    let failure = reason ?? server.lastingFailure
    if let failure { Terminal.complain("borealis: \(failure)") }
    Terminal.flush()
    _exit(failure == nil ? 0 : 1)
  }

  /// Whoever has told this process to stop, or to reload, does not know of the one that has its place, unless
  /// it was told: then that one gets the signal as well. It gets the signal to stop once at most, since the
  /// second one would end it at once. Returns whether it got that.
  private static func passOn(_ signals: borrowing Signals, of server: Server) -> Bool {
    while let request = signals.wait(milliseconds: 0) {
      switch request {
      case .stop: server.takeover.stop()
      case .reload: if let follower = server.takeover.follower { kill(follower, SIGHUP) }
      }
    }
    guard server.takeover.isStopping, !ServiceManager.isThere, let follower = server.takeover.follower
    else { return false }
    return kill(follower, SIGTERM) == 0
  }

  /// Another process has the server's place.
  private static func end(_ server: Server) -> Never {
    let failure = server.takeover.failure
    if let failure { Terminal.complain("borealis: the new process does not serve: \(failure)") }
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

  /// As long as another process takes the server's place, does nothing but notice signals.
  private static func waitForTakeover(_ server: Server, _ signals: borrowing Signals) {
    var wantsReload = false
    while server.takeover.holdsMainThread() {
      switch signals.wait(milliseconds: 20) {
      case .stop: server.takeover.stop()
      case .reload: wantsReload = true
      case nil: break
      }
    }
    guard wantsReload else { return }
    if let follower = server.takeover.follower { kill(follower, SIGHUP) } else { server.reload() }
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
        waitForTakeover(server, signals)
        if server.takeover.hasFollower { return }
        if server.takeover.isStopping {
          signals.restoreDefaults()
          return
        }
        server.flush()
        quarters += 1
        guard quarters % 4 == 0 else { continue }
        server.tick()
        guard server.lastingFailure == nil else { return }
      }
    }
  }
}
