/// What every benchmark needs: where to put files and how to start servers.
struct BenchEnvironment {
  let options: BenchOptions
  let workspace: Workspace
  /// Path of the running program, which is its own helper.
  let executable: String
  /// Path of the program `borealis`.
  let server: String

  /// Starts a program whose standard error goes to a log in the workspace.
  func start(_ program: String, _ arguments: [String]) throws(BenchError) -> ServerProcess {
    try ServerProcess(program, arguments, executable: executable, log: workspace.path + "/servers.log")
  }

  /// Starts Borealis and then each wanted peer, measures it and stops it; a peer that is not installed is
  /// left out with a note. `senders` is how many HTTP connections pushes to Borealis go over, `ownReceivers`
  /// how many devices it has, if that differs.
  func withSystems(
    _ report: Report, receivers: Int, ownReceivers: Int? = nil, senders: Int = 1,
    subscribes: Bool = true,
    _ measure: (SystemUnderTest) throws(BenchError) -> Void
  ) throws(BenchError) {
    if !options.onlyPeers {
      let system = BorealisSystem(
        try BorealisServer(self), receivers: ownReceivers ?? receivers, senders: senders)
      try measure(system)
      system.stop()
    }
    for peer in options.peers {
      do throws(BenchError) {
        let system = try peer.start(self, receivers: receivers, subscribes: subscribes)
        try measure(system)
        system.stop()
      } catch .notInstalled(let program) {
        report.note("\(program) is left out: it is not installed")
      }
    }
  }
}
