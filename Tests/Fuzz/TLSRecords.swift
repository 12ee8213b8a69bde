import BorealisNet
import COpenSSL

/// Records of TLS 1.3 behind the handshake. The first byte chooses cipher suite and largest content; then
/// follow records, each with a byte that says whether the peer's keys protect it, and a byte of length. What
/// the layer makes of one is bounded, and behind a fault nothing is decrypted.
@Sendable func fuzzTLSRecords(_ bytes: [UInt8]) {
  guard let choice = bytes.first, let suite = RecordSuite(rawValue: Int32(choice % 3)) else { return }
  let secret = [UInt8](repeating: choice, count: suite.secretSize)
  let largest = choice & 8 == 0 ? RecordLayer.largestContent : 64
  guard var peer = secret.withUnsafeBytes({ RecordKeys(suite, secret: $0) }) else { return }
  var layer = RecordLayer(reading: peer, writing: peer, largest: largest, recordsPerKey: 4)
  var ciphers = co_record_ciphers()
  defer { co_end_record_ciphers(&ciphers) }
  var rest = bytes.dropFirst()
  while let way = rest.popFirst(), let length = rest.popFirst() {
    let inner = Array(rest.prefix(Int(length)))
    rest = rest.dropFirst(inner.count)
    var record = inner
    var isSealed = false
    if way & 1 == 0, let kind = inner.last {
      record = [UInt8](repeating: 0, count: inner.count + RecordLayer.overhead - 1)
      isSealed = inner.dropLast().withUnsafeBytes { content in
        record.withUnsafeMutableBytes { peer.seal(kind, content, into: $0, &ciphers) }
      }
      check(isSealed, "a record is protected")
    }
    guard case .success(let size?) = record.withUnsafeBytes({ layer.size(of: $0) }), size == record.count
    else { continue }
    check(size <= RecordLayer.largestRecord, "a record has a bound")
    let opened = record.withUnsafeMutableBytes { layer.open($0, &ciphers) }
    switch opened {
    case .content(let count):
      check(isSealed && count > 0 && count <= largest, "content is the peer's, and bounded")
      check(Array(record[5..<5 + count]) == Array(inner.prefix(count)), "content is what was sealed")
    case .nothing:
      check(isSealed, "only the peer's records are taken")
      // Whole messages end with a record, parts do not.
      if inner.last == 22 || inner.contains(22), answersNewKeys(&layer, peer, &ciphers) { return }
    case .closed, .alert: check(isSealed, "only the peer ends the connection")
    case .fault: return
    }
  }
}

/// Whether the layer's next record has new keys, so that the harness, which cannot tell when its own have to
/// change, ends. What it writes is well-formed either way.
private func answersNewKeys(
  _ layer: inout RecordLayer, _ peer: RecordKeys, _ ciphers: inout co_record_ciphers
) -> Bool {
  var output = [UInt8](repeating: 0, count: 1 + 2 * RecordLayer.overhead + 5)
  let size = [7].withUnsafeBytes { (content: UnsafeRawBufferPointer) in
    output.withUnsafeMutableBytes {
      layer.seal(UnsafeRawBufferPointer(rebasing: content[..<1]), into: $0, &ciphers)
    }
  }
  check(size == 23 || size == 50, "one record, or one behind an announcement")
  return size == 50
}
