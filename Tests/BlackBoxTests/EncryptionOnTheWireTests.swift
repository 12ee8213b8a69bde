import BorealisBase
import BorealisCrypto
import BorealisProtocol
import PushTesting
import Testing

/// What goes to Apple of a push that only its device reads: ciphertext, a neutral text, and that an extension
/// is to replace it.
@Suite struct EncryptionOnTheWireTests {
  private static let marker = "marker-1d77-of-the-plain-text"

  /// Both kinds of ciphertext, for one device and under a key that is shared; beside them a message, for the
  /// direct connection.
  @Test(arguments: [DeviceKeyKind.x25519, .p256, .sm2]) func `Apple sees no plain text`(kind: DeviceKeyKind)
    throws
  {
    let world = try APNsWorld()
    let key = try DevicePrivateKey(kind)
    let shared = ContentKey(kind == .sm2 ? .sm4 : .aes)
    let plain = Array("{\"alert\":\"\(Self.marker)\",\"extras\":{\"k\":\"\(Self.marker)\"}}".utf8)
    let message = Array("{\"msg_content\":\"\(Self.marker)\"}".utf8)
    let pairs: [(ContentKeyID, [UInt8], [UInt8])] = [
      (key.publicKey.id, try key.publicKey.seal(plain), try key.publicKey.seal(message)),
      (shared.id, shared.seal(plain), shared.seal(message)),
    ]
    for (id, notification, message) in pairs {
      let encryption: JSONValue = [
        "alg": .string(kind.coding.rawValue), "key": .string(id.text),
        "notification": .string(Base64.encode(notification)), "message": .string(Base64.encode(message)),
      ]
      let push = try world.push("You have news", options: ["encryption": encryption])
      try world.wait("Apple's answer") { try world.status(of: push) == .delivered }
      try world.wait("the simulator's line") { !APNsWorld.entries(world.entries, of: push).isEmpty }
      let entry = try #require(APNsWorld.entries(world.entries, of: push).first)
      #expect(entry.isAccepted, "\(entry.json)")
      #expect(entry.text == "You have news")
      let payload = entry.json["payload"]
      #expect(payload?["aps"]?["mutable-content"]?.int64 == 1)
      let carried = payload?["encrypted"]
      #expect(carried?["key"]?.string == id.text && carried?["alg"]?.string == kind.coding.rawValue)
      // Strings alone, which is what extensions expect.
      #expect(carried?.object?.members.allSatisfy { $0.value.string != nil } == true)
      let data = try #require(carried?["data"]?.string.flatMap { Base64.decode($0.utf8) })
      #expect(data == notification)
      let opened = try id == shared.id ? shared.open(data) : key.open(data)
      #expect(opened == plain)
      // The report of the push says nothing else.
      let report = try world.server.call("GET", "/v1/pushes/\(push)", as: world.app)
      #expect(report.status == 200 && !report.body.contains(Self.marker))
    }
    // Whatever the simulator wrote, in whatever form: its log, and what it keeps beside it.
    let needles = [
      Self.marker, String(Base64.encode(Array(Self.marker.utf8)).dropLast(4)),
      Hex.encode(Array(Self.marker.utf8)),
    ]
    let files = TemporaryFolder.files(world.folder.path).map { world.folder.file($0) }
    #expect(
      files.contains { TemporaryFolder.read($0).contains("mutable-content") },
      "the search reads the wrong files")
    for file in files {
      let text = TemporaryFolder.read(file)
      for needle in needles { #expect(!text.contains(needle), "\(needle) in \(file)") }
    }
  }
}
