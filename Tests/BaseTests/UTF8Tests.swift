import Testing

@testable import BorealisBase

/// Texts by the means of older systems, which Linux does not need, are those by the newer ones.
@Suite struct UTF8Tests {
  /// What a function gives: a text, or the place of the first fault.
  private func result(_ read: () throws(InvalidUTF8) -> String) -> Result<[UInt8], InvalidUTF8> {
    do throws(InvalidUTF8) { return .success(Array(try read().utf8)) } catch { return .failure(error) }
  }

  private func check(_ bytes: [UInt8]) {
    let new = result { () throws(InvalidUTF8) in
      try bytes.withSpan { bytes throws(InvalidUTF8) in try String(validUTF8: bytes) }
    }
    let old = result { () throws(InvalidUTF8) in
      try bytes.withSpan { bytes throws(InvalidUTF8) in try String.validated(bytes) }
    }
    #expect(old == new, "\(bytes)")
    if case .success(let text) = new { #expect(text == bytes) }
  }

  @Test func bothWaysAgree() {
    let bytes: [UInt8] = [
      0x00, 0x41, 0x7F, 0x80, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4,
      0xF5,
      0xFF,
    ]
    check([])
    for first in bytes {
      check([first])
      for second in bytes {
        check([first, second])
        for third in bytes {
          check([0x41, first, second, third])
          for fourth in bytes { check([first, second, third, fourth]) }
        }
      }
    }
  }

  @Test func faultsHaveTheirPlace() {
    let cut: [UInt8] = [0xE4, 0xB8, 0xAD, 0xE4, 0xB8]
    #expect(throws: InvalidUTF8(at: 3)) { try cut.withSpan { try String(validUTF8: $0) } }
    #expect("\u{4e2d}a".withUTF8Span { $0.count } == 4)
  }
}
