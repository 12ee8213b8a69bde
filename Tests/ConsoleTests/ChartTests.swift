import BorealisBase
import Testing

@testable import Console

@Suite struct ChartTests {
  @Test(
    arguments: [
      (0.0, [0.0, 2, 4]), (3, [0, 2, 4]), (5, [0, 3, 6]), (10, [0, 5, 10]), (11, [0, 10, 20]),
      (400, [0, 200, 400]),
      (401, [0, 300, 600]), (999_999, [0, 500_000, 1_000_000]),
    ] as [(Double, [Double])])
  func `A scale ends with a round number`(top: Double, ticks: [Double]) {
    #expect(Chart.Scale(counting: top).ticks == ticks)
  }

  @Test func `A scale of powers holds its values and rises with them`() {
    for values in [[], [1.0], [3, 40, 500], [11_000, 90_000], [1, 6_000_000]] as [[Double]] {
      let scale = Chart.Scale(powersAround: values)
      #expect(scale.ticks.count > 1)
      for value in values { #expect(value <= scale.ticks.last ?? 0 && value >= scale.ticks.first ?? 0) }
      let shares = values.map { scale.share($0) }
      #expect(shares == shares.sorted() && shares.allSatisfy { (0...1).contains($0) })
    }
    let scale = Chart.Scale(powersAround: [1, 1000])
    #expect(scale.ticks == [1, 10, 100, 1000])
    #expect(abs(scale.share(10) - 1.0 / 3) < 0.01 && scale.share(1) == 0 && scale.share(1000) == 1)
  }

  @Test(arguments: [
    (0.0, "0", "0 ms"), (7, "7", "7 ms"), (950, "950", "950 ms"), (1500, "1.5k", "1.5 s"),
    (12_345, "12k", "12 s"),
    (120_000, "120k", "2 min"), (3_000_000, "3M", "50 min"),
  ])
  func `Numbers are short`(value: Double, count: String, duration: String) {
    #expect(Numbers.short(value) == count && Numbers.duration(value) == duration)
  }

  @Test func `Periods end with the present one and have no gaps`() throws {
    let now = try #require(LocalTime("2026-03-01 14:59:59"))
    let hours = ChartPeriods(.day, until: now)
    #expect(hours.name(23) == "2026-03-01 14:00" && hours.name(0) == "2026-02-28 15:00" && hours.count == 24)
    let days = ChartPeriods(.month, until: now)
    #expect(days.name(29) == "2026-03-01" && days.name(0) == "2026-01-31")
    for range in ChartRange.allCases {
      let periods = ChartPeriods(range, until: now)
      #expect(
        periods.hours.map { periods.index($0) ?? -1 }
          == periods.hours.indices.map {
            Int(($0 - periods.hours.lowerBound) / range.step)
          })
      #expect(periods.index(periods.hours.upperBound) == nil && periods.marks.count == Chart.markCount)
    }
  }

  @Test func `A table keeps its fields apart and is no formula`() {
    var writer = CSVWriter()
    writer.row(["plain", "a,b", "say \"hi\"", "two\r\nlines", "北京"])
    writer.row(["=1+1", "+4", "-4", "@x", "\tx", "\"=\"", ""])
    // Where a semicolon stands between fields, a spreadsheet sees others than we do.
    writer.row(["x;=1+1", "a-b", "x; =1", "\t=1", "x\n@y"])
    // It takes a quotation mark behind a semicolon for the frame of a field, and signs in full width for
    // others.
    writer.row(["x;\"=1+1;", "x;\"\"@y", "\u{ff1d}1", "\u{ff0b}1", "\u{ff0d}1", "\u{ff20}1"])
    #expect(Array(writer.bytes.prefix(3)) == [0xef, 0xbb, 0xbf])
    #expect(
      String(decoding: writer.bytes.dropFirst(3), as: UTF8.self)
        == "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\r\nlines\",北京\r\n'=1+1,'+4,'-4,'@x,'\tx,\"\"\"'=\"\"\",\r\n"
        + "x;'=1+1,a-b,x; =1,'\t'=1,\"x\n'@y\"\r\n"
        + "\"x;\"\"'=1+1;\",\"x;\"\"\"\"'@y\",'\u{ff1d}1,'\u{ff0b}1,'\u{ff0d}1,'\u{ff20}1\r\n"
    )
  }
}
