import Testing

@testable import PushBench

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

  @Test(arguments: [0, 1, 0x0123_4567_89ab_cdef, UInt64.max])
  func payloadsCarryTheirTime(_ time: UInt64) {
    let bytes = Array("before ".utf8) + Payload.make(size: 40, time: time)
    #expect(bytes.count == 47)
    let span = bytes.span
    #expect(Payload.time(in: span, 0..<bytes.count) == time)
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
    #expect(throws: BenchError.self) { try BenchOptions(benchmark: "idle", peers: "redis,other") }
    #expect(try BenchOptions(benchmark: "idle", peers: "redis,floor").peers == [.redis, .floor])
    #expect(try BenchOptions(benchmark: "all", peers: "none").peers.isEmpty)
  }
}
