import Testing

/// Benchmarks are run by hand and so are the last to notice that what they use has changed.
@Suite(.serialized) struct BenchTests {
  /// `apns --queue` fills a database with registrations and stores credentials, as many others do.
  @Test(arguments: [["restart", "--connections", "20"], ["apns", "--queue", "1000"]])
  func `A benchmark runs to its end`(arguments: [String]) throws {
    let short = ["--seconds", "1", "--peers", "none"]
    let bench = try RunningProgram(["bench"] + arguments + short, of: RunningProgram.tools)
    // Its table comes at its end.
    let ending = try bench.end(patience: 400)
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.output.contains("\ngoals\n"))
  }
}
