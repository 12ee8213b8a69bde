import HTTP
import Testing

@Suite struct MultipartTests {
  private static let type = "multipart/form-data; boundary=abc"

  private static func part(_ header: String, _ content: String) -> String {
    "--abc\r\nContent-Disposition: form-data; \(header)\r\n\r\n\(content)\r\n"
  }

  private static func parse(_ text: String, type: String = type) throws(MultipartFault) -> [[String]] {
    let body = Array(text.utf8)
    return try MultipartForm(contentType: type, body: body).parts.map {
      [$0.name, $0.fileName ?? "-", String(decoding: body[$0.content], as: UTF8.self)]
    }
  }

  @Test func `A file and a field are read`() throws {
    let text =
      "--abc\r\nContent-Disposition: form-data; name=\"filename\"; filename=\"u.txt\"\r\n"
      + "Content-Type: text/plain\r\n\r\nanna\r\nben\r\n\r\n" + Self.part("name=ttl", "24") + "--abc--\r\n"
    #expect(try Self.parse(text) == [["filename", "u.txt", "anna\r\nben\r\n"], ["ttl", "-", "24"]])
  }

  @Test(
    arguments: [
      ("--abc--", []), ("\r\n--abc--\r\n", []), ("--abc-- \t", []),
      (part("name=\"\"", "") + "--abc--", [["", "-", ""]]),
      (part("name=\"a\\\"b\\\\c\\d\"", "x") + "--abc--", [["a\"b\\c\\d", "-", "x"]]),
      (part("name=a; filename=\"C:\\dir\\f.txt\"", "x") + "--abc--", [["a", "C:\\dir\\f.txt", "x"]]),
      (part("NAME=a;filename*=UTF-8''%E5%8C%97.txt;", "x") + "--abc--", [["a", "北.txt", "x"]]),
      (part("name=a", "\r\n--ab\r\n-abc") + "--abc--", [["a", "-", "\r\n--ab\r\n-abc"]]),
      (part("name=a", "\r\r\n") + "--abc--", [["a", "-", "\r\r\n"]]),
      ("--abc \r\ncontent-disposition:form-data;name=a\r\n\r\n\r\n--abc--", [["a", "-", ""]]),
      ("--abc\r\ncontent-disposition:form-data;name=a\r\n\r\n--abc--", [["a", "-", ""]]),
    ] as [(String, [[String]])]) func `What the standard allows is read`(
      text: String, parts: [[String]]
    ) throws
  {
    #expect(try Self.parse(text) == parts)
  }

  @Test(
    arguments: [
      ("", .badDelimiter), ("x--abc--", .badDelimiter), ("\n--abc--", .badDelimiter),
      ("--ab--", .badDelimiter),
      ("--abc", .badEnd), ("--abc-", .badDelimiter), ("--abc--x", .badEnd), ("--abc--\r\n\r\n", .badEnd),
      ("--abc\n", .badDelimiter), ("--abcd\r\n", .badDelimiter), ("--abc\r\n", .badEnd),
      (part("name=a", "x"), .badEnd), (part("name=a", "x") + "--abc", .badEnd),
      (part("name=a", "x\r\n--abcd") + "--abc--", .badDelimiter),
      ("--abc\r\n\r\nx\r\n--abc--", .badHeader), (part("", "x") + "--abc--", .badHeader),
      (part("name", "x") + "--abc--", .badHeader), (part("name=", "x") + "--abc--", .badHeader),
      (part("name=a; name=b", "x") + "--abc--", .badHeader), (part("name=\"a", "x") + "--abc--", .badHeader),
      (part("name=a b", "x") + "--abc--", .badHeader), (part("name=\"a\"b", "x") + "--abc--", .badHeader),
      (part("name=a; filename*=latin1''x", "x") + "--abc--", .badHeader),
      (part("name=a; filename*=utf-8''%e5", "x") + "--abc--", .badHeader),
      ("--abc\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--abc--", .badHeader),
      ("--abc\r\nContent-Disposition : form-data; name=a\r\n\r\nx\r\n--abc--", .badHeader),
      ("--abc\r\nContent-Disposition: form-data; name=\u{1}\r\n\r\nx\r\n--abc--", .badHeader),
      (
        "--abc\r\nContent-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b\r\n\r\nx\r\n--abc--",
        .badHeader
      ),
      (
        "--abc\r\nContent-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64\r\n\r\nx\r\n--abc--",
        .unsupportedCoding
      ),
      ("--abc\r\n" + String(repeating: "a: b\r\n", count: 9) + "\r\nx\r\n--abc--", .badHeader),
      ("--abc\r\na: " + String(repeating: "b", count: 1100) + "\r\n\r\nx\r\n--abc--", .badHeader),
      (String(repeating: part("name=a", "x"), count: 17) + "--abc--", .tooManyParts),
    ] as [(String, MultipartFault)]) func `Anything else is refused`(text: String, fault: MultipartFault)
  {
    #expect(throws: fault) { try Self.parse(text) }
  }

  @Test(arguments: [
    ("multipart/form-data; boundary=abc", true), ("Multipart/Form-Data;charset=utf-8;BOUNDARY=\"abc\"", true),
    ("multipart/form-data", false), ("multipart/mixed; boundary=abc", false), ("", false),
    ("multipart/form-data; boundary=", false), ("multipart/form-data; boundary=\"\"", false),
    ("multipart/form-data; boundary=\"abc \"", false), ("multipart/form-data; boundary=a\"b", false),
    ("multipart/form-data; boundary=\"a{c\"", false), ("multipart/form-data boundary=abc", false),
    ("multipart/form-data; boundary=abc; boundary=abc", false),
    ("multipart/form-data; boundary=" + String(repeating: "a", count: 71), false),
  ]) func `The type names the boundary`(type: String, isTaken: Bool) {
    let isRead = (try? Self.parse("--abc--", type: type)) != nil
    #expect(isRead == isTaken)
  }

  /// No prefix of a form is one: what is cut short is never taken for the whole.
  @Test func `A form that is cut short is refused`() {
    let text = Self.part("name=a; filename=b", "one\r\ntwo") + Self.part("name=c", "") + "--abc--"
    for count in 0..<text.utf8.count {
      #expect(throws: MultipartFault.self) {
        try Self.parse(String(decoding: text.utf8.prefix(count), as: UTF8.self))
      }
    }
  }
}
