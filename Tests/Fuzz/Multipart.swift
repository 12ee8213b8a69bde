import HTTP

/// Forms: the first line is the content type, the rest the body. What is read must be in the body, and
/// written down it must read as itself.
@Sendable func fuzzMultipart(_ bytes: [UInt8]) {
  let end = bytes.firstIndex(of: 10) ?? bytes.count
  let type = String(decoding: bytes[..<end], as: UTF8.self)
  let body = Array(bytes[min(end + 1, bytes.count)...])
  guard let form = try? MultipartForm(contentType: type, body: body) else { return }
  check(form.parts.count <= MultipartForm.maximumParts, "the parts keep the limit")
  var previous = 0
  for part in form.parts {
    check(part.content.lowerBound >= previous && part.content.upperBound <= body.count, "parts are in order")
    previous = part.content.upperBound
  }
  for cut in cuts(body, stride: 64) where cut + 4 < body.count {
    let isWhole = body[cut...].allSatisfy { $0 == 13 || $0 == 10 || $0 == 32 || $0 == 9 }
    check(
      isWhole || (try? MultipartForm(contentType: type, body: Array(body[..<cut]))) == nil,
      "a form that is cut short is no form")
  }
  rewrite(form, body)
}

/// Writes a form with a boundary that occurs nowhere in it.
private func rewrite(_ form: MultipartForm, _ body: [UInt8]) {
  var boundary = "b"
  while String(decoding: body, as: UTF8.self).contains(boundary) && boundary.count < 60 { boundary += "0b" }
  guard boundary.count < 60 else { return }
  var copy: [UInt8] = []
  for part in form.parts {
    copy += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(quoted(part.name))\"".utf8
    if let name = part.fileName {
      // A file's name may hold what no line of a header may, if it came in the form with escapes.
      guard name.utf8.allSatisfy({ $0 >= 32 && $0 != 127 || $0 == 9 }) else { return }
      copy += "; filename=\"\(quoted(name))\"".utf8
    }
    copy += "\r\n\r\n".utf8
    copy += body[part.content]
    copy += "\r\n".utf8
  }
  copy += "--\(boundary)--".utf8
  guard let again = try? MultipartForm(contentType: "multipart/form-data; boundary=\(boundary)", body: copy)
  else {
    // Escaped, a name may be longer than a line of a header.
    let isLong = form.parts.contains { $0.name.utf8.count + ($0.fileName ?? "").utf8.count > 400 }
    return check(isLong, "a form that is written down is a form")
  }
  check(again.parts.map(\.name) == form.parts.map(\.name), "names can be written down")
  check(again.parts.map(\.fileName) == form.parts.map(\.fileName), "names of files can be written down")
  check(
    again.parts.map { Array(copy[$0.content]) } == form.parts.map { Array(body[$0.content]) },
    "contents can be written down")
}

private func quoted(_ text: String) -> String {
  String(text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] })
}
