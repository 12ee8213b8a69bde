import BorealisBase
import Testing

@testable import BorealisDevice

@Suite struct StateRecordTests {
  static let records: [StateRecord] = [
    .fingerprint([1]), .fingerprint(Array(0..<64)), .identity(CoreRun.appKey, CoreRun.identity), .noIdentity,
    .wishes(DeviceWishes()),
    .wishes(DeviceWishes(alias: "", tags: ["北京", "vip", "#a"], areKnownToServer: false)),
    .wishes(DeviceWishes(alias: String(repeating: "a", count: 40))),
    .inHand([]), .inHand([MessageID(1), MessageID(.max)]), .handled((0..<20).map { MessageID($0) }),
    .notified([MessageID(3)]),
    .key(.own(.x25519, Array(0..<80), since: 1_800_000_000)), .key(.own(.sm2, Array(0..<113), since: 0)),
    .key(.shared(ContentKeyID(.max), Array(0..<33))), .key(.reported("1a2b3c4d5e6f7081923 0123456789abcdef")),
  ]

  @Test func knownChecksum() {
    // The check value of CRC-32/ISO-HDLC.
    #expect(CRC32.of(Array("123456789".utf8)[...]) == 0xcbf4_3926)
  }

  @Test func readsWhatItWrites() {
    var bytes: [UInt8] = []
    for (device, record) in Self.records.enumerated() {
      record.encode(device: UInt32(device) &* 0x0101_0101, into: &bytes)
    }
    var at = 0
    for (device, record) in Self.records.enumerated() {
      let read = StateRecord.decode(bytes, at: &at)
      #expect(read?.device == UInt32(device) &* 0x0101_0101)
      #expect(read?.record == record)
    }
    #expect(at == bytes.count)
  }

  /// No cut and no changed byte goes through as a record.
  @Test(arguments: records.indices) func damageIsSeen(index: Int) {
    var bytes: [UInt8] = []
    Self.records[index].encode(device: 7, into: &bytes)
    for cut in 0..<bytes.count {
      var at = 0
      let read = StateRecord.decode(Array(bytes[..<cut]), at: &at)
      #expect(read == nil && at == 0)
    }
    for place in bytes.indices {
      for bit in 0..<8 as Range<UInt8> {
        var damaged = bytes
        damaged[place] ^= 1 << bit
        var at = 0
        let read = StateRecord.decode(damaged, at: &at)
        #expect(read == nil && at == 0)
      }
    }
  }

  /// Payloads that this version does not write are no records of it, even under a right checksum: they are
  /// passed over.
  @Test(
    arguments: [
      (0, []), (8, []), (8, Array(repeating: 1, count: 88)), (9, Array(repeating: 1, count: 8)), (10, []),
      (11, [1, 2, 3]), (12, []), (1, []), (1, Array(repeating: 1, count: 65)), (2, [1, 2]),
      (2, Array(repeating: 0, count: 39)), (3, [0]), (4, [1]), (4, [1, 1, 2, 65]), (4, [1, 1, 1, 0xff]),
      (5, [1, 2, 3]), (6, Array(repeating: 0, count: 12)), (7, [1]),
    ] as [(UInt8, [UInt8])])
  func strangePayloadsArePassedOver(kind: UInt8, payload: [UInt8]) {
    var writer = ByteWriter()
    writer.write(0 as UInt32)
    writer.write(kind)
    writer.write(UInt32(payload.count))
    writer.write(bytes: payload)
    writer.write(CRC32.of(writer.bytes[...]))
    var at = 0
    let read = StateRecord.decode(writer.bytes, at: &at)
    #expect(read?.device == 0 && read?.record == nil && at == writer.bytes.count)
  }
}
