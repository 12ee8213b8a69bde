import BorealisBase
import COpenSSL
import PushTesting
import Testing

@testable import BorealisNet

/// The rules of RFC 8446 for records behind the handshake, without a socket.
@Suite struct RecordLayerTests {
  /// A client's side of a connection, which may break every rule.
  struct Client {
    var ciphers = co_record_ciphers()
    var writing: RecordKeys
    var reading: RecordKeys
    var layer: RecordLayer

    init(_ suite: RecordSuite, largest: Int = RecordLayer.largestContent, recordsPerKey: UInt64 = 1 << 23)
      throws
    {
      let (own, other) = (
        [UInt8](repeating: 1, count: suite.secretSize), [UInt8](repeating: 2, count: suite.secretSize)
      )
      func keys(_ secret: [UInt8]) throws -> RecordKeys {
        try #require(secret.withUnsafeBytes { RecordKeys(suite, secret: $0) })
      }
      (writing, reading) = (try keys(own), try keys(other))
      layer = RecordLayer(
        reading: try keys(own), writing: try keys(other), largest: largest, recordsPerKey: recordsPerKey)
    }

    /// A record with these bytes, the last of which may be padding, as TLSInnerPlaintext.
    mutating func record(_ inner: [UInt8]) throws -> [UInt8] {
      let kind = try #require(inner.last)
      var record = [UInt8](repeating: 0, count: inner.count + RecordLayer.overhead - 1)
      let isSealed = inner.dropLast().withUnsafeBytes { content in
        record.withUnsafeMutableBytes { writing.seal(kind, content, into: $0, &ciphers) }
      }
      #expect(isSealed)
      return record
    }

    /// What the server makes of a record, and its content.
    mutating func open(_ bytes: [UInt8]) -> (RecordLayer.Opened, [UInt8]) {
      var record = bytes
      switch record.withUnsafeBytes({ layer.size(of: $0) }) {
      case .success(bytes.count?): break
      case .success: return (.nothing, [0xff])
      case .failure(let alert): return (.fault(alert), [])
      }
      let opened = record.withUnsafeMutableBytes { layer.open($0, &ciphers) }
      guard case .content(let count) = opened else { return (opened, []) }
      return (opened, Array(record[5..<5 + count]))
    }

    /// What the server writes, as TLSInnerPlaintext without padding.
    mutating func answer(_ content: [UInt8]) throws -> [[UInt8]] {
      var output = [UInt8](repeating: 0, count: content.count + 49)
      let size = content.withUnsafeBytes { content in
        output.withUnsafeMutableBytes { layer.seal(content, into: $0, &ciphers) }
      }
      var (rest, found) = (output[..<(try #require(size))], [[UInt8]]())
      while !rest.isEmpty {
        let length = Int(rest[rest.startIndex + 3]) << 8 | Int(rest[rest.startIndex + 4])
        var record = Array(rest.prefix(5 + length))
        rest = rest.dropFirst(5 + length)
        let isOpen = record.withUnsafeMutableBytes { reading.open($0, &ciphers) }
        #expect(isOpen)
        found.append(Array(record[5..<record.count - 16]))
        guard found.last?.last == 22 else { continue }
        let isNew = reading.update()
        #expect(isNew)
      }
      return found
    }

    /// Goes on with new keys for what the client sends.
    mutating func update() throws {
      let isNew = writing.update()
      #expect(isNew)
    }

    mutating func end() { co_end_record_ciphers(&ciphers) }
  }

  /// RFC 8448 section 3: the keys of a client, and a record with the numbers from 0 to 49.
  @Test func `The example of RFC 8448`() throws {
    let secret = try #require(Hex.decode("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5"))
    let expected = try #require(
      Hex.decode(
        "1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a9a20441e2b62974e1f5a6292a2977014bd1e3deae63aeebb21694915e4"
      ))
    var keys = try #require(secret.withUnsafeBytes { RecordKeys(.aes128, secret: $0) })
    var ciphers = co_record_ciphers()
    defer { co_end_record_ciphers(&ciphers) }
    var record = [UInt8](repeating: 0, count: 50 + RecordLayer.overhead)
    let isSealed = [UInt8](0..<50).withUnsafeBytes { content in
      record.withUnsafeMutableBytes { keys.seal(23, content, into: $0, &ciphers) }
    }
    #expect(isSealed && record == expected)
  }

  @Test(arguments: RecordSuite.allCases) func `Content of any size, with any padding`(suite: RecordSuite)
    throws
  {
    var client = try Client(suite)
    defer { client.end() }
    var random = SeededRandom(seed: 1)
    for size in [1, 2, 15, 16, 17, 255, 4096, 16_383, 16_384]
      + (0..<40).map({ _ in Int.random(in: 1...9000, using: &random) })
    {
      let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) | 1 }
      let padding = Int.random(in: 0...min(300, 16_384 - size), using: &random)
      let record = try client.record(content + [23] + [UInt8](repeating: 0, count: padding))
      let (opened, found) = client.open(record)
      #expect(opened == .content(size) && found == content)
      #expect(try client.answer(content) == [content + [23]])
    }
  }

  /// The record, as TLSInnerPlaintext (RFC 8446 section 5.2), and what has to come of it.
  @Test(
    arguments: [
      ("zeros in front of the kind are content", [0, 0, 23], .content(2)),
      ("no content", [23], .nothing), ("no content, padded", [23, 0, 0], .nothing),
      ("nothing but padding", [0], .fault(.unexpectedMessage)),
      ("nothing but padding, more of it", [0, 0, 0], .fault(.unexpectedMessage)),
      ("change of ciphers", [1, 20], .fault(.unexpectedMessage)),
      ("heartbeat", [1, 24], .fault(.unexpectedMessage)),
      ("a kind that does not exist", [1, 255], .fault(.unexpectedMessage)),
      ("close_notify", [1, 0, 21], .closed), ("close_notify, called fatal", [2, 0, 21], .closed),
      ("close_notify of no level", [9, 0, 21], .closed), ("user_canceled", [1, 90, 21], .nothing),
      ("a fatal alert", [2, 46, 21], .alert(46)), ("the same, called a warning", [1, 46, 21], .alert(46)),
      ("half an alert", [2, 21], .fault(.decodeError)), ("no alert", [21], .fault(.unexpectedMessage)),
      ("two alerts", [1, 0, 1, 0, 21], .fault(.decodeError)),
      ("KeyUpdate", [24, 0, 0, 1, 0, 22], .nothing),
      ("KeyUpdate, requested", [24, 0, 0, 1, 1, 22], .nothing),
      ("KeyUpdate with a third value", [24, 0, 0, 1, 2, 22], .fault(.illegalParameter)),
      ("KeyUpdate without a value", [24, 0, 0, 0, 22], .fault(.decodeError)),
      ("KeyUpdate that is too long", [24, 0, 0, 2, 0, 0, 22], .fault(.decodeError)),
      ("KeyUpdate that announces a megabyte", [24, 16, 0, 0, 22], .fault(.decodeError)),
      ("KeyUpdate, and another one", [24, 0, 0, 1, 0, 24, 0, 0, 1, 0, 22], .fault(.unexpectedMessage)),
      ("part of a handshake message", [24, 0, 0, 22], .nothing),
      ("an empty part of one", [22], .fault(.unexpectedMessage)),
      ("ClientHello", [1, 0, 0, 4, 3, 3, 0, 0, 22], .fault(.unexpectedMessage)),
      ("NewSessionTicket", [4, 0, 0, 0, 22], .fault(.unexpectedMessage)),
      ("EndOfEarlyData", [5, 0, 0, 0, 22], .fault(.unexpectedMessage)),
      ("Certificate", [11, 0, 0, 4, 0, 0, 0, 0, 22], .fault(.unexpectedMessage)),
      ("Finished", [20, 0, 0, 0, 22], .fault(.unexpectedMessage)),
    ] as [(String, [UInt8], RecordLayer.Opened)])
  func `What a record may hold`(name: String, inner: [UInt8], expected: RecordLayer.Opened) throws {
    for suite in RecordSuite.allCases {
      var client = try Client(suite)
      defer { client.end() }
      #expect(client.open(try client.record(inner)).0 == expected, "\(name)")
    }
  }

  /// Kind, version and length in front of a record.
  @Test(
    arguments: [
      ("another version means nothing", [23, 9, 9], 0, nil),
      ("an alert in the clear", [21, 3, 3], 0, .unexpectedMessage),
      ("a handshake message in the clear", [22, 3, 3], 0, .unexpectedMessage),
      ("a change of ciphers", [20, 3, 3], 0, .unexpectedMessage),
      ("another kind", [0, 3, 3], 0, .unexpectedMessage),
      ("one byte too many", [23, 3, 3], 16_641, .recordOverflow),
      ("all bits", [23, 3, 3], 65_535, .recordOverflow),
    ] as [(String, [UInt8], Int, RecordAlert?)])
  func `What stands in front of a record`(
    name: String, start: [UInt8], length: Int, expected: RecordAlert?
  ) throws {
    var client = try Client(.aes128)
    defer { client.end() }
    var record = try client.record([7, 23])
    record.replaceSubrange(0..<3, with: start)
    if length > 0 { record.replaceSubrange(3..<5, with: [UInt8(length >> 8), UInt8(length & 255)]) }
    let opened = client.open(record).0
    guard let expected else {
      // The header is protected as well, so that this one fails for another reason.
      return #expect(opened == .fault(.badRecordMAC))
    }
    #expect(opened == .fault(expected), "\(name)")
  }

  /// A content of 16,385 bytes with its kind is too much, and so is the same number of bytes of padding.
  @Test func `What a record holds is bounded`() throws {
    for (content, padding, isLegal) in [
      (16_384, 0, true), (16_385, 0, false), (0, 16_384, true), (0, 16_385, false), (16_000, 385, false),
    ] {
      var client = try Client(.aes128)
      defer { client.end() }
      // Made by hand, since the client's own side refuses as well.
      let inner = [UInt8](repeating: 1, count: content) + [23] + [UInt8](repeating: 0, count: padding)
      let opened = client.open(try sealed(inner, by: client)).0
      #expect(opened == (isLegal ? content > 0 ? .content(content) : .nothing : .fault(.recordOverflow)))
    }
    var small = try Client(.aes128, largest: 512)
    defer { small.end() }
    #expect(small.open(try small.record([UInt8](repeating: 1, count: 512) + [23])).0 == .content(512))
    #expect(
      small.open(try small.record([UInt8](repeating: 1, count: 513) + [23])).0 == .fault(.recordOverflow))
  }

  /// AES-128-GCM by another way than the one under test.
  private func sealed(_ inner: [UInt8], by client: Client) throws -> [UInt8] {
    let length = inner.count + 16
    let header: [UInt8] = [23, 3, 3, UInt8(length >> 8), UInt8(length & 255)]
    var (key, iv) = ([UInt8](repeating: 0, count: 16), [UInt8](repeating: 0, count: 12))
    let secret = [UInt8](repeating: 1, count: 32)
    #expect(
      co_expand_label(0, secret, "key", &key, 16) == 1 && co_expand_label(0, secret, "iv", &iv, 12) == 1)
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    var (count, rest): (Int32, Int32) = (0, 0)
    var output = [UInt8](repeating: 0, count: length)
    #expect(EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, iv) == 1)
    #expect(EVP_EncryptUpdate(context, nil, &count, header, 5) == 1)
    #expect(EVP_EncryptUpdate(context, &output, &count, inner, Int32(inner.count)) == 1)
    var tag = [UInt8](repeating: 0, count: 16)
    #expect(EVP_EncryptFinal_ex(context, &tag, &rest) == 1 && rest == 0)
    #expect(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag) == 1)
    output.replaceSubrange(inner.count..., with: tag)
    return header + output
  }

  /// Each bit of a record is protected, and so is its place.
  @Test(arguments: RecordSuite.allCases) func `A changed record ends the connection`(suite: RecordSuite)
    throws
  {
    var client = try Client(suite)
    defer { client.end() }
    let record = try client.record([1, 2, 3, 23])
    for place in record.indices {
      for bit in 0..<8 {
        var changed = record
        changed[place] ^= 1 << bit
        var other = client
        other.ciphers = co_record_ciphers()
        defer { other.end() }
        let opened = other.open(changed).0
        switch place {
        case 0: #expect(opened == .fault(.unexpectedMessage))
        case 3, 4: #expect(opened != .content(3))
        default: #expect(opened == .fault(.badRecordMAC))
        }
      }
    }
    // In its place it is taken; a second time, or before an earlier one, it is not.
    #expect(client.open(record).0 == .content(3))
    #expect(client.open(record).0 == .fault(.badRecordMAC))
    var ahead = try Client(suite)
    defer { ahead.end() }
    _ = try ahead.record([1, 23])
    #expect(ahead.open(try ahead.record([2, 23])).0 == .fault(.badRecordMAC))
  }

  @Test func `A handshake message may come in parts, but nothing between them`() throws {
    for between in [[1, 23], [23], [1, 0, 21], [2, 46, 21]] as [[UInt8]] {
      var client = try Client(.aes128)
      defer { client.end() }
      #expect(client.open(try client.record([24, 0, 22])).0 == .nothing)
      #expect(client.open(try client.record(between)).0 == .fault(.unexpectedMessage))
    }
    var client = try Client(.aes128)
    defer { client.end() }
    for byte in [24, 0, 0, 1, 0] as [UInt8] {
      #expect(client.open(try client.record([byte, 22])).0 == .nothing)
    }
    try client.update()
    #expect(client.open(try client.record([5, 23])).1 == [5])
  }

  /// Both sides change their keys; a peer that asks gets new keys before the next content, once.
  @Test(arguments: RecordSuite.allCases) func `New keys`(suite: RecordSuite) throws {
    var client = try Client(suite)
    defer { client.end() }
    for isAsked in [false, true, true] {
      #expect(client.open(try client.record([24, 0, 0, 1, isAsked ? 1 : 0, 22])).0 == .nothing)
      // What is protected by the old keys is not taken any more.
      var old = client
      old.ciphers = co_record_ciphers()
      defer { old.end() }
      #expect(old.open(try old.record([9, 23])).0 == .fault(.badRecordMAC))
      try client.update()
      #expect(client.open(try client.record([9, 23])).1 == [9])
      let expected: [[UInt8]] = isAsked ? [[24, 0, 0, 1, 0, 22], [8, 23]] : [[8, 23]]
      #expect(try client.answer([8]) == expected)
      #expect(try client.answer([7]) == [[7, 23]])
    }
    // Several requests are answered by one.
    for _ in 0..<2 {
      #expect(client.open(try client.record([24, 0, 0, 1, 1, 22])).0 == .nothing)
      try client.update()
    }
    #expect(try client.answer([6]) == [[24, 0, 0, 1, 0, 22], [6, 23]])
    #expect(try client.answer([5]) == [[5, 23]])
  }

  @Test func `New keys cannot be had without an end`() throws {
    var client = try Client(.aes128)
    defer { client.end() }
    for _ in 0..<64 {
      #expect(client.open(try client.record([24, 0, 0, 1, 0, 22])).0 == .nothing)
      try client.update()
    }
    #expect(client.open(try client.record([24, 0, 0, 1, 0, 22])).0 == .fault(.unexpectedMessage))
  }

  @Test(arguments: [[23], [23, 0, 0], [1, 90, 21]] as [[UInt8]])
  func `Records that hold nothing are counted`(inner: [UInt8]) throws {
    var client = try Client(.aes128)
    defer { client.end() }
    for _ in 0..<2 {
      for _ in 0..<32 { #expect(client.open(try client.record(inner)).0 == .nothing) }
      #expect(client.open(try client.record([1, 23])).0 == .content(1))
    }
    for _ in 0..<32 { #expect(client.open(try client.record(inner)).0 == .nothing) }
    #expect(client.open(try client.record(inner)).0 == .fault(.unexpectedMessage))
  }

  /// A key is good for a number of records (RFC 8446 section 5.5): then the server takes new ones, and asks
  /// a peer for them that does not do so itself, once.
  @Test func `Keys that were used for long are changed`() throws {
    var client = try Client(.aes128, recordsPerKey: 10)
    defer { client.end() }
    for round in 0..<35 {
      // The announcement has a record's number as well.
      let isNew = round > 0 && round % 10 == 0
      let expected: [[UInt8]] = isNew ? [[24, 0, 0, 1, 0, 22], [1, 23]] : [[1, 23]]
      #expect(try client.answer([1]) == expected, "\(round)")
    }
    for _ in 0..<10 { #expect(client.open(try client.record([1, 23])).0 == .content(1)) }
    #expect(try client.answer([2]) == [[24, 0, 0, 1, 1, 22], [2, 23]])
    #expect(try client.answer([2]) == [[2, 23]])
    #expect(client.open(try client.record([24, 0, 0, 1, 0, 22])).0 == .nothing)
    try client.update()
    for _ in 0..<10 { #expect(client.open(try client.record([1, 23])).0 == .content(1)) }
    #expect(try client.answer([2]) == [[24, 0, 0, 1, 1, 22], [2, 23]])
  }

  /// A nonce is never used twice: at the last number the connection ends.
  @Test func `Numbers of records do not begin anew`() throws {
    let secret = [UInt8](repeating: 3, count: 32)
    func keys(_ sequence: UInt64) throws -> RecordKeys {
      try #require(secret.withUnsafeBytes { RecordKeys(.aes128, secret: $0, sequence: sequence) })
    }
    var ciphers = co_record_ciphers()
    defer { co_end_record_ciphers(&ciphers) }
    var (writing, reading) = (try keys(.max - 1), try keys(.max - 1))
    var record = [UInt8](repeating: 0, count: 23)
    func seal() -> Bool {
      [1].withUnsafeBytes { content in
        record.withUnsafeMutableBytes {
          writing.seal(23, UnsafeRawBufferPointer(rebasing: content[..<1]), into: $0, &ciphers)
        }
      }
    }
    #expect(seal())
    #expect(record.withUnsafeMutableBytes { reading.open($0, &ciphers) })
    #expect(!seal() && writing.sequence == .max)
    #expect(!record.withUnsafeMutableBytes { reading.open($0, &ciphers) })
  }
}
