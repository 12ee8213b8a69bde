import BorealisBase
import Glibc
import Testing

@testable import DevTools

@Suite struct MeasureTests {
  @Test func percentilesAreThoseOfNearestRank() {
    var latencies = Latencies()
    #expect(latencies.percentile(0.5) == nil)
    for value in (1...200).reversed() { latencies.add(UInt64(value) * 1000) }
    #expect(latencies.percentile(0.5) == 100)
    #expect(latencies.percentile(0.99) == 198)
    #expect(latencies.percentile(1) == 200)
    #expect(latencies.maximum == 200)
  }

  @Test(arguments: [0, 1, 0x23_4567_89ab_cdef, 1 << 56 - 1])
  func payloadsCarryTheirTimeAndPublisher(_ time: UInt64) {
    let bytes = Array("before ".utf8) + Payload.make(size: 40, time: time, publisher: 255)
    #expect(bytes.count == 47)
    let span = bytes.span
    #expect(Payload.time(in: span, 0..<bytes.count) == time)
    #expect(Payload.publisher(in: span, 0..<bytes.count) == 255)
    #expect(Payload.time(in: span, 0..<20) == nil)
    #expect(Payload.time(in: span, 8..<bytes.count) == nil)
  }

  @Test func aMessageIsCompleteWhenAllReceiversHaveIt() {
    let board = ArrivalBoard(receivers: 3)
    let none: [UInt8] = []
    func arrive(_ receiver: Int) { board.arrived(at: receiver, none.span, 0..<0) }
    arrive(0)
    arrive(0)
    arrive(1)
    #expect(board.completed == 0)
    arrive(2)
    #expect(board.completed == 1)
    arrive(2)
    arrive(1)
    #expect(board.completed == 2)
    #expect(board.arrivals == 6)
  }

  @Test func messagesOfEachPublisherAreCounted() {
    let board = ArrivalBoard(receivers: 2)
    board.byPublisher = [0, 0]
    for (receiver, publisher) in [(0, 1), (1, 1), (1, 0), (0, 7)] {
      let bytes = Payload.make(size: 40, time: 1, publisher: publisher)
      board.arrived(at: receiver, bytes.span, 0..<bytes.count)
    }
    #expect(board.byPublisher == [1, 2])
    #expect(board.arrivals == 4)
  }

  /// Threads of a library end when it connects anew.
  @Test func processorTimeOfThreadsThatHaveEndedCounts() throws {
    var last: UInt64 = 0
    for _ in 0..<50 {
      let done = Semaphore()
      try SystemThread.start("worker") {
        let time = SystemTime()
        let end = time.monotonic() + 1_000_000
        while time.monotonic() < end {}
        done.signal()
      }
      done.wait()
      let now = try ProcessUsage.processorTime(getpid())
      #expect(now >= last)
      last = now
    }
    #expect(last >= 1_000_000)
  }

  @Test func memoryGrowsByTheSlopeOfItsSamples() {
    let line = (0..<10).map { (seconds: Double($0), bytes: Double($0 * 3 + 100)) }
    #expect(abs(SoakBenchmark.slope(line) - 3) < 1e-9)
    let noise = line.map { (seconds: $0.seconds, bytes: $0.seconds == 0 || $0.seconds == 9 ? 50.0 : 40) }
    #expect(abs(SoakBenchmark.slope(noise)) < 1e-9)
    #expect(SoakBenchmark.slope([(seconds: 1, bytes: 5)]) == 0)
  }

  @Test func aReportJudgesRatios() {
    let report = Report()
    report.add("speed", Report.own, 90, "x/s")
    report.add("speed", "floor", 100, "x/s")
    report.goal("fast", "speed", over: "floor", atLeast: 0.9)
    report.goal("faster", "speed", over: "floor", atLeast: 0.91)
    report.goal("small", "speed", atMost: 89)
    report.goal("not measured", "speed", over: "redis", atLeast: 1)
    #expect(report.goals.map(\.isMet) == [true, false, false])
    #expect(report.table.contains("borealis / floor = 0.9"))
  }

  @Test(arguments: [
    (0.1234, "0.123"), (1.234, "1.23"), (12.34, "12.3"), (999.4, "999"), (1234.5, "1,235"),
    (-9_876_543, "-9,876,543"), (.infinity, "-"),
  ])
  func numbersAreReadable(_ value: Double, _ text: String) { #expect(Report.number(value) == text) }

  @Test func optionsAreChecked() throws {
    #expect(throws: BenchError.self) { try BenchOptions(benchmark: "other") }
    #expect(throws: BenchError.self) { try BenchOptions(benchmark: "idle", connections: 15_001) }
    #expect(throws: BenchError.self) { try BenchOptions(benchmark: "idle", seconds: 0) }
    #expect(throws: BenchError.self) { try BenchOptions(benchmark: "idle", seconds: 61) }
    #expect(throws: BenchError.self) { try BenchOptions(benchmark: "idle", rate: 1) }
    #expect(throws: BenchError.self) { try BenchOptions(benchmark: "idle", peers: "redis,other") }
    #expect(throws: BenchError.self) { try BenchOptions(benchmark: "idle", nodes: 4) }
    #expect(throws: BenchError.self) { try BenchOptions(benchmark: "cluster", nodes: 1) }
    #expect(throws: BenchError.self) { try BenchOptions(benchmark: "cluster", devices: 3_000_001) }
    #expect(throws: BenchError.self) { try BenchOptions(benchmark: "idle", apps: 4) }
    #expect(throws: BenchError.self) { try BenchOptions(benchmark: "cluster", apps: 0) }
    #expect(throws: BenchError.self) { try BenchOptions(benchmark: "cluster", apps: 65) }
    #expect(throws: BenchError.self) { try BenchOptions(benchmark: "cluster", devices: 1000, apps: 4) }
    #expect(try BenchOptions(benchmark: "cluster", nodes: 2, apps: 4).apps == 4)
    #expect(try BenchOptions(benchmark: "cluster", nodes: 56, devices: 1_000_000).nodes == 56)
    #expect(try BenchOptions(benchmark: "soak", seconds: 3600, rate: 2000).rate == 2000)
    #expect(try BenchOptions(benchmark: "idle", peers: "redis,floor").peers == [.redis, .floor])
    #expect(try BenchOptions(benchmark: "all", peers: "none").peers.isEmpty)
  }

  @Test func `Of several rounds the median is kept for each system`() {
    let report = Report()
    for value in [3.0, 1, 2] { report.add("rate", "one", value, "a second") }
    for value in [5.0, 9, 7] { report.add("rate", Report.own, value, "a second") }
    report.add("other", "one", 4, "us")
    report.keepMedians(of: "rate")
    #expect(report.entries.filter { $0.metric == "rate" }.map(\.value) == [2, 7])
    #expect(report.value("rate") == 7 && report.value("other", "one") == 4)
  }
}
