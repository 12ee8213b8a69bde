import HTTP
import Testing

/// What every answer of the console must keep, whatever was asked.
enum Safety {
  static func check(_ response: HTTPResponse, _ what: String) {
    let policy = response.headers["content-security-policy"] ?? ""
    #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"), "\(what)")
    #expect(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "\(what)")
    #expect(response.headers["x-content-type-options"] == "nosniff", "\(what)")
    #expect(response.headers["x-frame-options"] == "DENY", "\(what)")
    let isForSites = response.headers["access-control-allow-origin"] == "*"
    #expect(
      response.headers["cross-origin-resource-policy"] == (isForSites ? "cross-origin" : "same-origin"),
      "\(what)")
    let caching = response.headers["cache-control"] ?? ""
    let isKept = caching.hasPrefix("public, max-age=") || caching == "no-cache"
    let isFile = what.contains(/\/console\/assets\/|\/web\/|\/favicon\.ico| \/docs/)
    #expect(caching == "no-store" || (isKept && isFile), "\(what): \(caching)")
    guard response.headers["content-type"]?.hasPrefix("text/html") == true else { return }
    for tag in tags(of: response.body) { #expect(!isInline(tag), "\(what): <\(tag)>") }
  }

  /// What stands between angle brackets: those of texts are escaped.
  private static func tags(of body: [UInt8]) -> [String] {
    body.split(separator: UInt8(ascii: "<")).compactMap { piece in
      piece.firstIndex(of: UInt8(ascii: ">")).map { String(decoding: piece[..<$0], as: UTF8.self) }
    }
  }

  /// Whether a tag holds a script or style of its own.
  private static func isInline(_ tag: String) -> Bool {
    let words = tag.split(whereSeparator: \.isWhitespace)
    if words.first == "script" || words.first == "style" { return !tag.contains(" src=\"/console/assets/") }
    // Values of attributes may hold anything; names begin behind white space.
    return unquoted(tag).split(whereSeparator: \.isWhitespace).dropFirst().contains { word in
      word.hasPrefix("style=") || (word.hasPrefix("on") && word.contains("="))
    } || tag.contains("javascript:")
  }

  private static func unquoted(_ tag: String) -> String {
    tag.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
      .map { $0.offset % 2 == 0 ? String($0.element) : "" }.joined()
  }
}
