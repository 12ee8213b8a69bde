import BorealisBase
import BorealisCrypto
import Testing

@Suite struct SealTests {
  let context = SealingKeys.Context(app: AppID(7), purpose: "test")

  @Test(arguments: [0, 1, 15, 16, 17, 5000])
  func opensWhatItSealed(count: Int) throws {
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    let secret = SystemRandom.bytes(count)
    let sealed = keys.seal(secret, for: context)
    #expect(sealed.count == count + 37)
    #expect(try keys.open(sealed, for: context) == secret)
    // A random nonce: never the same bytes again.
    #expect(keys.seal(secret, for: context) != sealed)
  }

  @Test func everyChangedByteIsNoticed() throws {
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    let sealed = keys.seal(Array("secret".utf8), for: context)
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      let bytes = changed
      #expect(throws: SealError.self) { try keys.open(bytes, for: context) }
      #expect(throws: SealError.self) { try keys.open(Array(sealed[..<index]), for: context) }
    }
    #expect(throws: SealError.damaged) { try keys.open(sealed + [0], for: context) }
  }

  @Test func belongsToOneAppAndPurpose() throws {
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    let sealed = keys.seal([1, 2, 3], for: context)
    for other in [
      SealingKeys.Context(app: AppID(8), purpose: "test"), .init(app: AppID(7), purpose: "tests"),
    ] {
      #expect(throws: SealError.damaged) { try keys.open(sealed, for: other) }
    }
  }

  /// A new key in the first line seals from then on; the old one still opens, until its line goes.
  @Test func keysAreReplaced() throws {
    let (old, new) = (SealingKeys.makeLine(), SealingKeys.makeLine())
    let before = try SealingKeys(text: old)
    let both = try SealingKeys(text: "# from today\n" + new + "\n" + old)
    let after = try SealingKeys(text: new)
    let sealed = before.seal([1], for: context)
    #expect(both.ids == after.ids + before.ids)
    #expect(try both.open(sealed, for: context) == [1])
    #expect(try after.open(both.seal([2], for: context), for: context) == [2])
    #expect(throws: SealError.otherKey(needed: before.ids[0], present: after.ids)) {
      try after.open(sealed, for: context)
    }
  }

  @Test(arguments: [
    ("", SealError.noKey), ("# nothing\n", .noKey), ("hello", .malformedKeyFile(line: 1)),
    ("\nborealis-secret-key-1 00", .malformedKeyFile(line: 2)),
    ("borealis-secret-key-1 " + String(repeating: "0", count: 65), .malformedKeyFile(line: 1)),
    ("borealis-secret-key-2 " + String(repeating: "0", count: 64), .malformedKeyFile(line: 1)),
  ])
  func keyFilesAreChecked(text: String, error: SealError) {
    #expect(throws: error) { try SealingKeys(text: text) }
    let line = SealingKeys.makeLine()
    if error != .noKey { #expect(throws: SealError.self) { try SealingKeys(text: line + text) } }
  }

  /// The format is kept forever: what was once stored must open.
  @Test func formatIsKept() throws {
    let keys = try SealingKeys(text: "borealis-secret-key-1 " + String(repeating: "01", count: 32))
    let stored = try #require(Hex.decode(Self.stored))
    #expect(try keys.open(stored, for: .init(app: AppID(1), purpose: "kept")) == Array("secret".utf8))
  }

  /// Made with the Python package `cryptography`.
  static let stored =
    "01fbf272475ee679de000102030405060708090a0bc8c3f654458a64dfd3bae6c68dc54d259f886df4f38e"
}
