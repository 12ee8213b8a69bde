import BorealisBase
import HTTP
import Testing

@testable import Console

/// The search for a text in pushes.
@Suite struct SearchTests {
  @Test func `A text that is looked for is cut by its bytes`() throws {
    let one = "q=e" + String(repeating: "%CC%81", count: 3000)
    let form = HistoryForm(try #require(HTTPTarget("/console?\(one)")))
    #expect(form.text.utf8.count == HistoryForm.mostBytes - 1)
    let chinese = String(repeating: "%E6%8E%A8", count: 100)
    #expect(HistoryForm(try #require(HTTPTarget("/console?q=\(chinese)"))).text.count == 100)
  }

  @Test func `Bytes are found where they are, whatever repeats in them`() {
    func words(_ number: Int, _ length: Int) -> [UInt8] {
      (0..<length).map { (number >> $0) & 1 == 0 ? UInt8(ascii: "a") : UInt8(ascii: "B") }
    }
    for length in 1...5 {
      for number in 0..<(1 << length) {
        let searched = words(number, length)
        let search = ByteSearch(searched)
        for text in (0..<(1 << 9)).map({ words($0, 9) }) {
          let isThere = (0...(9 - length)).contains { text[$0..<($0 + length)].elementsEqual(searched) }
          #expect(search.isFound(in: text) == isThere)
        }
      }
    }
    #expect(ByteSearch("PUSH".utf8).isFound(in: "a push".utf8))
    #expect(!ByteSearch("".utf8).isFound(in: "a push".utf8))
  }
}
