import BorealisBase

/// One HTTP request on a connection of its own.
struct HTTPCall {
  let status: Int
  /// The status line and the fields, as they came.
  let head: String
  let body: String

  /// The body as JSON, nil if it is none.
  var document: JSONValue? { try? parseJSON(Array(body.utf8)) }

  init(
    _ method: String, _ path: String, at address: String, login: (key: String, secret: String)? = nil,
    headers: [String] = [], body: String = ""
  ) throws {
    let socket = try TestSocket(address)
    try socket.send(Self.request(method, path, login: login, headers: headers + ["Connection: close"], body))
    try self.init(answerOn: socket)
  }

  /// Reads an answer up to the end of the connection.
  init(answerOn socket: TestSocket) throws {
    var bytes: [UInt8] = []
    while true {
      let more = try socket.receive()
      if more.isEmpty { break }
      bytes += more
    }
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.hasPrefix("HTTP/1.1 "), let status = Int(text.dropFirst(9).prefix(3)),
      let end = text.firstRange(of: "\r\n\r\n")
    else { throw TestSocket.Failure(description: "no HTTP answer: \(text)") }
    self.status = status
    head = String(text[..<end.lowerBound])
    body = String(text[end.upperBound...])
  }

  /// The bytes of a request.
  static func request(
    _ method: String, _ path: String, login: (key: String, secret: String)? = nil, headers: [String] = [],
    _ body: String = ""
  ) -> [UInt8] {
    var lines = ["\(method) \(path) HTTP/1.1", "Host: test", "Content-Length: \(body.utf8.count)"] + headers
    if let login {
      lines.append("Authorization: Basic " + Base64.encode(Array("\(login.key):\(login.secret)".utf8)))
    }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
  }
}
