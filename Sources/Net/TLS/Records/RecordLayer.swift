import BorealisBase
import COpenSSL

/// What a record holds (RFC 8446 section 5.1).
package enum RecordKind: UInt8, Sendable {
  case alert = 21
  case handshake = 22
  case content = 23
}

/// Alerts that a server sends behind the handshake (RFC 8446 section 6).
package enum RecordAlert: UInt8, Error, Sendable {
  case closeNotify = 0
  case unexpectedMessage = 10
  case badRecordMAC = 20
  case recordOverflow = 22
  case illegalParameter = 47
  case decodeError = 50
  case internalError = 80

  /// What an alert is called, for the log.
  static func name(_ code: UInt8) -> String { String(cString: SSL_alert_desc_string_long(Int32(code))) }
}

/// The records of a server's TLS 1.3 connection behind the handshake, for both directions: what RFC 8446
/// requires in sections 4.6.3, 5 and 6, without a socket. Of handshake messages only KeyUpdate can come: the
/// server asks for no certificates, so that a client has nothing else to say.
package struct RecordLayer {
  /// What a record was.
  package enum Opened: Equatable, Sendable {
    /// So many bytes of content stand behind the record's header now.
    case content(Int)
    /// Nothing for the owner.
    case nothing
    /// The peer sends no more.
    case closed
    /// The peer gives up, by an alert of this number.
    case alert(UInt8)
    /// The peer broke a rule: it gets this alert, and the connection is over.
    case fault(RecordAlert)
  }

  /// Bytes in front of what a record holds.
  package static let headerSize = 5
  /// What a record has more than its content: header, kind and tag.
  package static let overhead = 22
  /// The largest content.
  package static let largestContent = 16 << 10
  /// The largest record (RFC 8446 section 5.2).
  package static let largestRecord = headerSize + largestContent + 256
  /// Records before new keys: a third of what AES-GCM is good for (RFC 8446 section 5.5). ChaCha20 has no
  /// such limit.
  package static let recordsPerKey: UInt64 = 1 << 23
  /// Records in a row that hold nothing. OpenSSL takes as many.
  private static let mostEmpty = 32
  /// A KeyUpdate: its kind, a length of three bytes, and whether the receiver is to update as well (RFC 8446
  /// section 4.6.3).
  private static let keyUpdate: UInt8 = 24

  private var reading: RecordKeys
  private var writing: RecordKeys
  /// The largest content that both sides agreed on.
  package let largest: Int
  private let recordsPerKey: UInt64
  /// The peer's new keys so far.
  private var keyUpdates: UInt8 = 0
  private var empty: UInt8 = 0
  /// What has come of a KeyUpdate.
  private var messageCount: UInt8 = 0
  /// The peer asked for new keys, and has not got them.
  private var isAsked = false
  /// The peer was asked for new keys, and has not sent them.
  private var asks = false

  /// Begins behind a handshake. A test may want new keys sooner.
  package init(
    reading: RecordKeys, writing: RecordKeys, largest: Int = largestContent,
    recordsPerKey: UInt64 = Self.recordsPerKey
  ) {
    (self.reading, self.writing, self.recordsPerKey) = (reading, writing, recordsPerKey)
    self.largest = max(1, min(largest, Self.largestContent))
  }

  /// Overwrites the secrets.
  mutating func wipe() {
    reading.wipe()
    writing.wipe()
  }

  // MARK: Another process

  /// Writes all of it, keys first: see `RecordKeys.write`.
  package func write(to writer: inout ByteWriter) {
    reading.write(to: &writer)
    writing.write(to: &writer)
    writer.write(UInt16(largest))
    for count in [keyUpdates, empty, messageCount] { writer.write(count) }
    writer.write(UInt8((isAsked ? 1 : 0) | (asks ? 2 : 0)))
  }

  /// Reads what `write` wrote; nil if it is something else, or without memory.
  package init?(from reader: inout ByteReader) {
    guard var reading = RecordKeys(from: &reader) else { return nil }
    defer { reading.wipe() }
    guard var writing = RecordKeys(from: &reader) else { return nil }
    defer { writing.wipe() }
    guard let largest = reader.read(UInt16.self), (1...Self.largestContent).contains(Int(largest)),
      let updates = reader.read(UInt8.self), updates <= CO_KEY_UPDATES,
      let empty = reader.read(UInt8.self), Int(empty) <= Self.mostEmpty,
      let messageCount = reader.read(UInt8.self), messageCount <= 4,
      let marks = reader.read(UInt8.self), marks <= 3
    else { return nil }
    self.init(reading: reading, writing: writing, largest: Int(largest))
    (keyUpdates, self.empty, self.messageCount) = (updates, empty, messageCount)
    (isAsked, asks) = (marks & 1 != 0, marks & 2 != 0)
  }

  // MARK: Reading

  /// The size of the record that begins here, header and all; nil as long as the header is not complete. A
  /// failure for one that must not come.
  package func size(of bytes: UnsafeRawBufferPointer) -> Result<Int?, RecordAlert> {
    guard bytes.count >= Self.headerSize else { return .success(nil) }
    // The version behind the kind means nothing (RFC 8446 section 5.1).
    guard bytes[0] == RecordKind.content.rawValue else { return .failure(.unexpectedMessage) }
    let length = Int(bytes[3]) << 8 | Int(bytes[4])
    return length <= largest + 256 ? .success(Self.headerSize + length) : .failure(.recordOverflow)
  }

  /// Decrypts a whole record in its place.
  package mutating func open(
    _ record: UnsafeMutableRawBufferPointer, _ ciphers: inout co_record_ciphers
  ) -> Opened {
    guard reading.open(record, &ciphers) else { return .fault(.badRecordMAC) }
    var end = record.count - 16
    guard end - Self.headerSize <= largest + 1 else { return .fault(.recordOverflow) }
    // Zeros behind the kind are padding.
    while end > Self.headerSize, record[end - 1] == 0 { end -= 1 }
    guard end > Self.headerSize, let kind = RecordKind(rawValue: record[end - 1]),
      messageCount == 0 || kind == .handshake
    else { return .fault(.unexpectedMessage) }
    let content = UnsafeRawBufferPointer(rebasing: record[Self.headerSize..<end - 1])
    switch kind {
    case .content where content.isEmpty: return countEmpty()
    case .content:
      empty = 0
      return .content(content.count)
    // Only content may be empty (RFC 8446 section 5.4).
    case _ where content.isEmpty: return .fault(.unexpectedMessage)
    case .alert: return alert(content)
    case .handshake: return handshake(content)
    }
  }

  private mutating func countEmpty() -> Opened {
    empty += 1
    return Int(empty) > Self.mostEmpty ? .fault(.unexpectedMessage) : .nothing
  }

  /// The first byte of an alert, its level, means nothing (RFC 8446 section 6).
  private mutating func alert(_ content: UnsafeRawBufferPointer) -> Opened {
    guard content.count == 2 else { return .fault(.decodeError) }
    switch content[1] {
    case RecordAlert.closeNotify.rawValue: return .closed
    // user_canceled: close_notify follows.
    case 90: return countEmpty()
    case let code: return .alert(code)
    }
  }

  private mutating func handshake(_ content: UnsafeRawBufferPointer) -> Opened {
    for (place, byte) in content.enumerated() {
      switch messageCount {
      case 0: guard byte == Self.keyUpdate else { return .fault(.unexpectedMessage) }
      case 1, 2: guard byte == 0 else { return .fault(.decodeError) }
      case 3: guard byte == 1 else { return .fault(.decodeError) }
      default:
        guard byte <= 1 else { return .fault(.illegalParameter) }
        // What follows has other keys, so that it cannot be in this record.
        guard place == content.count - 1, keyUpdates < CO_KEY_UPDATES else {
          return .fault(.unexpectedMessage)
        }
        (messageCount, keyUpdates, asks) = (0, keyUpdates + 1, false)
        isAsked = isAsked || byte == 1
        return reading.update() ? .nothing : .fault(.internalError)
      }
      messageCount += 1
    }
    return .nothing
  }

  // MARK: Writing

  /// Whether new keys are due before the next content: the peer asks for them, or one side has used its own
  /// for long.
  private var needsKeys: Bool {
    isAsked || writing.sequence >= recordsPerKey || reading.sequence >= recordsPerKey && !asks
  }

  /// Writes a record with content, behind one that announces new keys if they are due. Gives the number of
  /// bytes, at most those of the content, twice `overhead` and five; nil if it is impossible, and then the
  /// connection is over.
  package mutating func seal(
    _ content: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer,
    _ ciphers: inout co_record_ciphers
  ) -> Int? {
    precondition(content.count <= largest)
    var start = 0
    if needsKeys {
      let asking = reading.sequence >= recordsPerKey && !asks
      let message: [UInt8] = [Self.keyUpdate, 0, 0, 1, asking ? 1 : 0]
      guard
        message.withUnsafeBytes({ writing.seal(RecordKind.handshake.rawValue, $0, into: output, &ciphers) }),
        writing.update()
      else { return nil }
      (isAsked, asks) = (false, asks || asking)
      start = message.count + Self.overhead
    }
    let rest = UnsafeMutableRawBufferPointer(rebasing: output[start...])
    guard writing.seal(RecordKind.content.rawValue, content, into: rest, &ciphers) else { return nil }
    return start + content.count + Self.overhead
  }

  /// Writes an alert, the last record that is sent; 24 bytes.
  package mutating func seal(
    _ alert: RecordAlert, into output: UnsafeMutableRawBufferPointer, _ ciphers: inout co_record_ciphers
  ) -> Int? {
    let content: [UInt8] = [alert == .closeNotify ? 1 : 2, alert.rawValue]
    return content.withUnsafeBytes { writing.seal(RecordKind.alert.rawValue, $0, into: output, &ciphers) }
      ? content.count + Self.overhead : nil
  }
}
