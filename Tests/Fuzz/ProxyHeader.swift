import BorealisNet

/// Headers of the PROXY protocol: what is decided of a part stays, and no header is longer than the bound.
@Sendable func fuzzProxyHeader(_ bytes: [UInt8]) {
  let whole = ProxyHeader.scan(bytes)
  for cut in cuts(bytes, stride: 8) {
    let part = ProxyHeader.scan(Array(bytes[..<cut]))
    check(part == .needMore || part == whole, "more bytes change no decision")
  }
  if case .header(let header) = whole {
    check(header.count > 0 && header.count <= min(bytes.count, ProxyHeader.most), "a header has a bound")
    check(ProxyHeader.scan(Array(bytes[..<header.count])) == whole, "a header is complete by itself")
  }
  check(whole != .needMore || bytes.count < ProxyHeader.most, "the wait for a header has a bound")
}
