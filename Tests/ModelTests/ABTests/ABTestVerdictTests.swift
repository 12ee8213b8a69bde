import BorealisBase
import Testing

@testable import Model

/// Which content of an A/B test wins, and when.
@Suite struct ABTestVerdictTests {
  /// Computed with Python's `math.erfc` from the textbook's formula.
  @Test(arguments: [
    ((45, 500), (70, 500), -2.4781035688528417, 0.013208279888430454),
    ((30, 100), (30, 100), 0, 1), ((7, 100), (3, 100), 1.2977713690461006, 0.19436591080310903),
    ((18, 20), (0, 20), 5.720775535473553, 1.0603891163569917e-08),
    ((200, 1000), (150, 1000), 2.9424494316825, 0.0032562696284120633),
  ])
  func `The z-test is the textbook's`(_ one: (Int, Int), _ two: (Int, Int), _ z: Double, _ p: Double) throws {
    let test = try #require(TwoProportionTest((one.0, one.1), (two.0, two.1)))
    #expect(abs(test.z - z) < 1e-9 && abs(test.pValue - p) < 1e-12, "\(test)")
    let turned = try #require(TwoProportionTest((two.0, two.1), (one.0, one.1)))
    #expect(abs(turned.z + z) < 1e-9 && abs(turned.pValue - p) < 1e-12)
  }

  @Test func `Too few of anything say nothing`() {
    for (one, two) in [((0, 0), (5, 10)), ((0, 100), (0, 100)), ((4, 100), (4, 100)), ((98, 100), (99, 100))]
    {
      #expect(TwoProportionTest(one, two) == nil, "\(one) \(two)")
    }
    #expect(TwoProportionTest((5, 100), (5, 100)) != nil)
  }

  private func design(_ confidence: Int?, contents: Int = 2) throws -> ABTestDesign {
    let texts = (0..<contents).map { #"{"alert":"\#($0)"}"# }.joined(separator: ",")
    let more = confidence.map { #","confidence":\#($0)"# } ?? ""
    let text = #"{"contents":[\#(texts)],"share":10,"after":1000,"audience":"all"\#(more)}"#
    return try ABTestDesign.parse(
      try #require(try parseJSON(Array(text.utf8)).object), rules: PushRules())
  }

  private func figures(_ contents: (delivered: Int, tapped: Int, isOut: Bool)...) -> [ABTestFigures] {
    contents.map {
      ABTestFigures(targets: 1000, delivered: $0.delivered, shown: 0, tapped: $0.tapped, isOut: $0.isOut)
    }
  }

  @Test func `At the end the highest rate wins, of equal ones the first`() throws {
    let design = try design(nil, contents: 3)
    func winner(_ figures: [ABTestFigures]) -> ABTestVerdict {
      ABTestVerdict(figures, of: design, isLast: true)
    }
    #expect(winner(figures((100, 1, false), (100, 3, false), (100, 2, false))) == .winner(1))
    // Fewer taps, and a higher rate.
    #expect(winner(figures((100, 5, false), (10, 2, false), (100, 3, false))) == .winner(1))
    #expect(winner(figures((100, 2, false), (50, 1, false), (0, 0, false))) == .winner(0))
    #expect(winner(figures((100, 0, false), (100, 0, false), (0, 0, false))) == .winner(0))
    #expect(winner(figures((0, 0, false), (0, 0, false), (0, 0, false))) == .winner(0))
    // What was recalled does not win.
    #expect(winner(figures((100, 9, true), (100, 1, false), (100, 2, false))) == .winner(2))
    #expect(winner(figures((100, 9, true), (100, 1, true), (100, 2, true))) == .nobody)
    // A tap without a delivery that anybody knows of.
    #expect(winner(figures((0, 3, false), (10, 1, false), (10, 0, false))) == .winner(1))
  }

  @Test func `Before the end it has to be clear, over all looks and comparisons`() throws {
    func early(_ figures: [ABTestFigures], _ confidence: Int?) throws -> ABTestVerdict {
      ABTestVerdict(figures, of: try design(confidence, contents: figures.count), isLast: false)
    }
    // p is 0.00326: less than 0.05 / 10, more than 0.01 / 10.
    let two = figures((1000, 150, false), (1000, 200, false))
    #expect(try early(two, 95) == .winner(1) && early(two, 99) == .wait && early(two, nil) == .wait)
    // Three pairs: less than 0.1 / 30 alone.
    let three = figures((1000, 150, false), (1000, 200, false), (1000, 100, false))
    #expect(try early(three, 90) == .winner(1) && early(three, 95) == .wait)
    // Better than one, and not clearly better than the other.
    #expect(try early(figures((1000, 150, false), (1000, 200, false), (1000, 195, false)), 90) == .wait)
    #expect(try early(figures((10, 0, false), (10, 9, false)), 90) == .wait)
    // Nobody to compare it with.
    #expect(try early(figures((1000, 150, true), (1000, 200, false)), 95) == .wait)
    #expect(try early(figures((1000, 150, true), (1000, 200, true)), 95) == .nobody)
  }

  @Test func `Looks come after each tenth of the time`() throws {
    let (plain, early) = (try design(nil), try design(95))
    #expect(plain.secondsOfLook(1) == 1000)
    #expect((1...10).map { early.secondsOfLook($0) } == Array(stride(from: 100, through: 1000, by: 100)))
    #expect(early.secondsOfLook(11) == 1000)
  }

  @Test func `Confidence compares with the leader`() throws {
    let figures = figures((1000, 150, false), (1000, 200, false), (5, 0, false))
    #expect(ABTestVerdict.leader(figures) == 1 && ABTestVerdict.confidence(figures, at: 1) == nil)
    let confidence = try #require(ABTestVerdict.confidence(figures, at: 0))
    #expect(abs(confidence - 0.9967437303715879) < 1e-12)
    #expect(ABTestVerdict.confidence(figures, at: 2) == nil)
  }
}
