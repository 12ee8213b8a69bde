import BorealisBase
import PushTesting
import Testing

/// Somebody who uses the console of a cluster in a browser, at any of its nodes.
final class SpreadVisitor {
  private let world: ClusterWorld
  private let cookie: String
  private var formToken = ""

  /// Sets the installation up as its first person, with the link that a node has logged.
  init(_ world: ClusterWorld, linkAt home: String, through name: String) throws {
    self.world = world
    let program = try world.node(home).program
    try program.wait(forError: "/console/setup/")
    let rest = try #require(program.errors.firstRange(of: "/console/setup/")).upperBound
    let link = program.errors[rest...].prefix { $0.isHexDigit || $0.isLetter || $0 == "-" || $0 == "_" }
    let entered = try Self.post(
      world, "/console/setup/\(link)", at: name,
      [("email", "olga@example.com"), ("name", "Olga"), ("password", "Quiet-Harbour-77-lamps")])
    let start = try #require(entered.head.firstRange(of: "borealis_session="), "\(entered.head)").lowerBound
    cookie = String(entered.head[start...].prefix { $0 != ";" && $0 != "\r\n" && $0 != "\r" })
    let page = try get("/console/me", at: name)
    let token = try #require(page.body.firstRange(of: #"name="form-token" content=""#)).upperBound
    formToken = String(page.body[token...].prefix { $0 != "\"" })
  }

  /// A page as a node gives it.
  func get(_ path: String, at name: String) throws -> HTTPCall {
    try HTTPCall("GET", path, at: try world.node(name).http, headers: ["Cookie: \(cookie)"])
  }

  /// Sends a form to a node.
  func post(_ path: String, at name: String, _ fields: [(String, String)] = []) throws -> HTTPCall {
    try Self.post(world, path, at: name, fields + [("form_token", formToken)], ["Cookie: \(cookie)"])
  }

  private static func post(
    _ world: ClusterWorld, _ path: String, at name: String, _ fields: [(String, String)],
    _ headers: [String] = []
  ) throws -> HTTPCall {
    let body = fields.map { "\(encode($0.0))=\(encode($0.1))" }.joined(separator: "&")
    return try HTTPCall(
      "POST", path, at: try world.node(name).http,
      headers: headers + ["Content-Type: application/x-www-form-urlencoded"], body: body)
  }

  private static func encode(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain =
        byte < 128 && (Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber)
      return isPlain ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte]).uppercased()
    }.joined()
  }
}
