import HTTP

/// Targets: what is split and decoded must come out of its own encoding unchanged.
@Sendable func fuzzHTTPTarget(_ bytes: [UInt8]) {
  guard let target = HTTPTarget(String(decoding: bytes, as: UTF8.self)) else { return }
  for segment in target.path {
    check(!segment.isEmpty && segment != "." && segment != "..", "a path only goes down")
    check(!segment.utf8.contains(0), "a segment holds no NUL")
  }
  var text = "/" + target.path.map(encoded).joined(separator: "/")
  if !target.query.isEmpty {
    text += "?" + target.query.map { encoded($0.name) + "=" + encoded($0.value) }.joined(separator: "&")
  }
  check(HTTPTarget(text) == target, "an encoded target reads as itself")
  for item in target.query { check(target[item.name] != nil, "an item is found by its name") }
}

/// Percent-encodes every byte.
private func encoded(_ text: String) -> String {
  text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
