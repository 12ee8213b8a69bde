import BorealisBase
import COpenSSL

/// The keys that secrets are sealed with before they are stored: AES-256-GCM, a random nonce for each. The
/// first key seals; all of them open, so that a key can be replaced while older secrets are still there.
package struct SealingKeys: Sendable {
  private struct Key: Sendable {
    let bytes: [UInt8]
    let id: [UInt8]

    /// The ID distinguishes keys and reveals nothing about the key.
    init(_ bytes: [UInt8]) {
      self.bytes = bytes
      id = Array(HMAC.sha256(key: bytes, Array("borealis key id".utf8)).prefix(8))
    }
  }

  /// The owner of a secret: it can be opened only for the same app and purpose.
  package struct Context: Sendable {
    let bytes: [UInt8]

    /// `purpose` is a constant of the program.
    package init(app: AppID, purpose: StaticString) {
      var writer = ByteWriter()
      writer.write(app.rawValue)
      writer.write(bytes: purpose.withUTF8Buffer { Array($0) })
      bytes = writer.bytes
    }

    /// For something in a file that belongs to no app alone; `file` is never used again.
    package init(file: Int64, purpose: StaticString) {
      var writer = ByteWriter()
      // Neither an app nor the mark of people.
      writer.write(UInt32.max - 1)
      writer.write(UInt64(bitPattern: file))
      writer.write(bytes: purpose.withUTF8Buffer { Array($0) })
      bytes = writer.bytes
    }

    /// For a secret of a person who uses the console.
    package init(person: Int64, purpose: StaticString) {
      var writer = ByteWriter()
      // No app has this number, so the two cannot be confused.
      writer.write(UInt32.max)
      writer.write(UInt64(bitPattern: person))
      writer.write(bytes: purpose.withUTF8Buffer { Array($0) })
      bytes = writer.bytes
    }
  }

  private static let mark = "borealis-secret-key-1 "
  private static let version: UInt8 = 1
  private static let nonceSize = 12
  private static let tagSize = 16
  /// Version, key ID and nonce.
  private static let headSize = 1 + 8 + nonceSize

  private let current: Key
  private let older: [Key]

  private init(_ keys: [Key]) throws(SealError) {
    guard let first = keys.first else { throw .noKey }
    current = first
    older = Array(keys.dropFirst())
  }

  /// Reads the text of a key file: one key in each line, the current one first. Empty lines and those that
  /// start with `#` are passed over.
  package init(text: String) throws(SealError) {
    var keys: [Key] = []
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() where !line.isEmpty && !line.hasPrefix("#") {
      guard line.hasPrefix(Self.mark), let bytes = Hex.decode(String(line.dropFirst(Self.mark.count))),
        bytes.count == 32
      else { throw .malformedKeyFile(line: index + 1) }
      keys.append(Key(bytes))
    }
    try self.init(keys)
  }

  /// A new random key as a line of a key file, with its line end: a secret.
  package static func makeLine() -> String { mark + Hex.encode(SystemRandom.bytes(32)) + "\n" }

  /// A key for HMACs from each of these keys, that of the current one first. It belongs to the app and
  /// purpose alone and reveals nothing about the key.
  package func macKeys(for context: Context) -> [[UInt8]] {
    ([current] + older).map { HMAC.sha256(key: $0.bytes, Array("borealis mac key".utf8) + context.bytes) }
  }

  /// The IDs of the keys, the current one first: 16 hexadecimal digits each, no secrets.
  package var ids: [String] { ([current] + older).map { Hex.encode($0.id) } }

  /// The ID of the current key.
  package var currentID: String { Hex.encode(current.id) }

  /// The IDs of the keys that sealed bytes need, nothing of bytes that are not sealed.
  package static func ids(of sealed: [[UInt8]]) -> Set<String> {
    Set(sealed.filter { $0.count >= headSize && $0[0] == version }.map { Hex.encode(Array($0[1..<9])) })
  }

  /// Seals with the current key; the result is 37 bytes longer.
  package func seal(_ bytes: [UInt8], for context: Context) -> [UInt8] {
    let nonce = SystemRandom.bytes(Self.nonceSize)
    var sealed = [Self.version] + current.id + nonce
    let associated = Self.associated(head: sealed[..<(Self.headSize - Self.nonceSize)], context)
    var output = [UInt8](repeating: 0, count: bytes.count + Self.tagSize)
    let done = co_gcm_seal(
      current.bytes, nonce, associated, associated.count, bytes, bytes.count, &output)
    precondition(done == 1, "AES-256-GCM failed")
    sealed += output
    return sealed
  }

  /// Opens what `seal` gave for the same context.
  package func open(_ sealed: [UInt8], for context: Context) throws(SealError) -> [UInt8] {
    guard sealed.count >= Self.headSize + Self.tagSize, sealed[0] == Self.version else { throw .malformed }
    let id = Array(sealed[1..<9])
    guard let key = ([current] + older).first(where: { $0.id == id }) else {
      throw .otherKey(needed: Hex.encode(id), present: ids)
    }
    let nonce = Array(sealed[9..<Self.headSize])
    let associated = Self.associated(head: sealed[..<9], context)
    let body = Array(sealed[Self.headSize...])
    let count = body.count - Self.tagSize
    // One byte more than needed: an empty array may have no address.
    var output = [UInt8](repeating: 0, count: count + 1)
    guard co_gcm_open(key.bytes, nonce, associated, associated.count, body, count, &output) == 1 else {
      ERR_clear_error()
      throw .damaged
    }
    return Array(output[..<count])
  }

  private static func associated(head: ArraySlice<UInt8>, _ context: Context) -> [UInt8] {
    Array(head) + context.bytes
  }
}
