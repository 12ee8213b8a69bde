import BorealisBase
import BorealisProtocol
import Testing

@Suite struct FrameScanTests {
  @Test(
    arguments: [
      ([0x01, 0x01], .frame(type: .ping, body: 2..<2, end: 2)),
      ([0x02, 0x3B, 0x00, 0xFF], .frame(type: .appState, body: 2..<3, end: 3)),
      ([], .needMore), ([0x80], .needMore), ([0x80, 0x80], .needMore), ([0x03, 0x01, 0x02], .needMore),
      ([0x00], .invalid(.emptyFrame)),
      ([0x81, 0x00], .invalid(.lengthNotMinimal)), ([0x80, 0x80, 0x00], .invalid(.lengthNotMinimal)),
      ([0x80, 0x80, 0x80], .invalid(.lengthTooLong)),
      ([0x81, 0x80, 0x04], .invalid(.frameTooLarge)), ([0xFF, 0xFF, 0x7F], .invalid(.frameTooLarge)),
      ([0x80, 0x80, 0x04], .needMore),
    ] as [([UInt8], FrameScan)])
  func scans(bytes: [UInt8], expected: FrameScan) {
    #expect(scanFrame(bytes.span, at: 0, limit: WireLimits.maxFrame) == expected)
  }

  @Test func limitBeforeLoginIsOneKibibyte() {
    let most: [UInt8] = [0x80, 0x08]
    let over: [UInt8] = [0x81, 0x08]
    #expect(scanFrame(most.span, at: 0, limit: WireLimits.maxFrameBeforeLogin) == .needMore)
    #expect(
      scanFrame(over.span, at: 0, limit: WireLimits.maxFrameBeforeLogin) == .invalid(.frameTooLarge))
  }

  @Test func findsFramesOneAfterTheOtherAtEveryCut() {
    let stream = Samples.client.flatMap { Samples.encoded($0.frame) }
    for cut in 0...stream.count {
      let part = Array(stream[..<cut])
      var at = 0
      var found = 0
      while case .frame(_, _, let end) = scanFrame(part.span, at: at, limit: WireLimits.maxFrame) {
        at = end
        found += 1
      }
      #expect(scanFrame(part.span, at: at, limit: WireLimits.maxFrame) == .needMore)
      if cut == stream.count { #expect(found == Samples.client.count) }
    }
  }

  @Test func strangeStartsAreNoTrap() {
    let bytes: [UInt8] = [1, 1]
    #expect(scanFrame(bytes.span, at: -1, limit: 10) == .needMore)
    #expect(scanFrame(bytes.span, at: 3, limit: 10) == .needMore)
    #expect(throws: FrameError.truncatedBody) {
      _ = try ClientFrame(type: .ping, body: 1..<3, in: bytes.span)
    }
  }
}
