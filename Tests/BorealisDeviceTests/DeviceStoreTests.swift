import BorealisBase
import Glibc
import PushTesting
import Testing

@testable import BorealisDevice

@Suite struct DeviceStoreTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("state") }

  @Test func everythingIsThereAfterAReopen() throws {
    let wishes = DeviceWishes(alias: "u_1", tags: ["a", "b"])
    var store: DeviceStore? = try DeviceStore.opened(path)
    let fresh = try #require(store?.load(0))
    let other = try #require(store?.load(1))
    #expect(fresh.fingerprint.count == 16 && fresh.fingerprint != other.fingerprint)
    #expect(fresh.identity == nil)
    store?.append([.identity(CoreRun.appKey, CoreRun.identity), .wishes(wishes)], for: 0, durable: true)
    store?.append([.inHand([MessageID(1), MessageID(2), MessageID(3)]), .handled([MessageID(2)])], for: 0)
    store = nil
    store = try DeviceStore.opened(path)
    let stored = try #require(store?.load(0))
    #expect(stored.fingerprint == fresh.fingerprint)
    #expect(stored.appKey == CoreRun.appKey && stored.identity == CoreRun.identity)
    #expect(stored.wishes == wishes)
    #expect(stored.inHand == [MessageID(1), MessageID(3)])
    #expect(stored.handled.oldestFirst == [MessageID(2)])
    #expect(store?.load(1).fingerprint == other.fingerprint)
    store?.append([.noIdentity], for: 0)
    store = nil
    #expect(try DeviceStore.opened(path).load(0).identity == nil)
  }

  @Test func onlyItsOwnerReadsIt() throws {
    _ = try DeviceStore.opened(path)
    var status = stat()
    #expect(stat(path, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
  }

  /// Wherever a crash cuts the file, the records before the cut are there, and new ones can follow.
  @Test func cutTail() throws {
    var store: DeviceStore? = try DeviceStore.opened(path)
    let fingerprint = try #require(store?.load(0)).fingerprint
    var sizes: [Int] = []
    for id in 1...5 as ClosedRange<UInt64> {
      sizes.append(TemporaryFolder.bytes(folder.file("state")).count)
      store?.append([.handled([MessageID(id)])], for: 0)
    }
    store = nil
    let whole = TemporaryFolder.bytes(folder.file("state"))
    for cut in StateFile.header.count...whole.count {
      try TemporaryFolder.write(Array(whole[..<cut]), to: folder.file("cut"))
      store = try DeviceStore.opened(folder.file("cut"))
      var stored = try #require(store?.load(0))
      let isWhole = cut >= sizes[0]
      #expect((stored.fingerprint == fingerprint) == isWhole)
      let known = cut == whole.count ? 5 : max(0, sizes.count { $0 <= cut } - 1)
      #expect(stored.handled.oldestFirst == (1...5).prefix(known).map { MessageID(UInt64($0)) })
      store?.append([.handled([MessageID(99)])], for: 0)
      store = nil
      store = try DeviceStore.opened(folder.file("cut"))
      stored = try #require(store?.load(0))
      #expect(stored.handled.oldestFirst.last == MessageID(99))
      store = nil
    }
  }

  @Test(arguments: [0, 1, 7]) func cutHeader(count: Int) throws {
    try TemporaryFolder.write(Array(StateFile.header[..<count]), to: folder.file("state"))
    _ = try DeviceStore.opened(path)
    #expect(TemporaryFolder.bytes(folder.file("state")) == StateFile.header)
  }

  /// Zeros or garbage at the end, as a crash of the system may leave them.
  @Test(arguments: [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0xff, 1, 2, 3]] as [[UInt8]])
  func garbageTail(garbage: [UInt8]) throws {
    var store: DeviceStore? = try DeviceStore.opened(path)
    let fingerprint = try #require(store?.load(0)).fingerprint
    store = nil
    let whole = TemporaryFolder.bytes(folder.file("state"))
    try TemporaryFolder.write(whole + garbage, to: folder.file("state"))
    store = try DeviceStore.opened(path)
    #expect(store?.load(0).fingerprint == fingerprint)
    #expect(TemporaryFolder.bytes(folder.file("state")) == whole)
  }

  /// Whichever byte is damaged, only its record is lost, not what follows it.
  @Test func damagedRecordsArePassedOver() throws {
    var store: DeviceStore? = try DeviceStore.opened(path)
    let fingerprint = try #require(store?.load(0)).fingerprint
    let wishes = DeviceWishes(alias: "u_1", tags: ["a", "b"])
    var ends = [TemporaryFolder.bytes(path).count]
    for record in [
      .identity(CoreRun.appKey, CoreRun.identity), .wishes(wishes), .handled([MessageID(1), MessageID(2)]),
      .inHand([MessageID(3)]),
    ] as [StateRecord] {
      store?.append([record], for: 0)
      ends.append(TemporaryFolder.bytes(path).count)
    }
    store = nil
    let whole = TemporaryFolder.bytes(path)
    for place in StateFile.header.count..<whole.count {
      var damaged = whole
      damaged[place] ^= 1 << UInt8(place % 8)
      try TemporaryFolder.write(damaged, to: folder.file("damaged"))
      for _ in 0..<2 {
        let stored = try DeviceStore.opened(folder.file("damaged")).load(0)
        let lost = ends.firstIndex { place < $0 }
        #expect((stored.fingerprint == fingerprint) == (lost != 0))
        #expect((stored.identity == CoreRun.identity) == (lost != 1))
        #expect((stored.wishes == wishes) == (lost != 2))
        #expect((stored.handled.oldestFirst == [MessageID(1), MessageID(2)]) == (lost != 3))
        #expect((stored.inHand == [MessageID(3)]) == (lost != 4))
        if lost == 0 { break }
      }
    }
  }

  /// A later version may have written records of kinds that this one does not know.
  @Test func recordsOfOtherVersionsAreKept() throws {
    var store: DeviceStore? = try DeviceStore.opened(path)
    let fingerprint = try #require(store?.load(0)).fingerprint
    store = nil
    var other = ByteWriter()
    other.write(0 as UInt32)
    other.write(99 as UInt8)
    other.write(3 as UInt32)
    other.write(bytes: [1, 2, 3] as [UInt8])
    other.write(CRC32.of(other.bytes[...]))
    var handled: [UInt8] = []
    StateRecord.handled([MessageID(7)]).encode(device: 0, into: &handled)
    try TemporaryFolder.write(TemporaryFolder.bytes(path) + other.bytes + handled, to: path)
    for isRewritten in [false, true] {
      store = try DeviceStore.opened(path)
      let stored = try #require(store?.load(0))
      #expect(stored.fingerprint == fingerprint && stored.handled.oldestFirst == [MessageID(7)])
      #expect(stored.others == other.bytes)
      if !isRewritten {
        let size = TemporaryFolder.bytes(path).count
        // This writes the file anew.
        #expect(store?.drop([], for: 0) == true)
        #expect(TemporaryFolder.bytes(path).count == size)
      }
      store = nil
    }
  }

  @Test func longFilesAreRewritten() throws {
    var store: DeviceStore? = try DeviceStore.opened(path)
    let fingerprint = try #require(store?.load(3)).fingerprint
    store?.append([.identity(CoreRun.appKey, CoreRun.identity)], for: 3)
    store?.append([.inHand([MessageID(70_000)])], for: 3)
    // What a crash in the middle of an earlier rewrite has left.
    try TemporaryFolder.write([1, 2, 3], to: folder.file("state.new"))
    var longest = 0
    for id in 1...20_000 as ClosedRange<UInt64> {
      store?.append([.inHand([MessageID(id)])], for: 3)
      store?.append([.handled([MessageID(id)])], for: 3)
      var status = stat()
      if stat(path, &status) == 0 { longest = max(longest, Int(status.st_size)) }
    }
    #expect(longest < 150_000)
    #expect(folder.names == ["state"])
    #expect(throws: DeviceSetUpError.stateInUse(path: path)) { try DeviceStore.opened(path) }
    store = nil
    let stored = try DeviceStore.opened(path).load(3)
    #expect(stored.fingerprint == fingerprint && stored.identity == CoreRun.identity)
    #expect(stored.inHand == [MessageID(70_000)])
    let count = UInt64(RecentMessages.defaultCapacity)
    #expect(stored.handled.oldestFirst == (20_001 - count...20_000).map { MessageID($0) })
  }

  @Test func oneAtATime() throws {
    let store = try DeviceStore.opened(path)
    #expect(throws: DeviceSetUpError.stateInUse(path: path)) { try DeviceStore.opened(path) }
    withExtendedLifetime(store) {}
  }

  @Test func otherFilesAreLeftAlone() throws {
    let other = Array("{\"not\": \"ours\"}".utf8)
    try TemporaryFolder.write(other, to: folder.file("state"))
    #expect(throws: DeviceSetUpError.noStateFile(path: path)) { try DeviceStore.opened(path) }
    try TemporaryFolder.write(StateFile.header.dropLast() + [2], to: folder.file("state"))
    #expect(throws: DeviceSetUpError.noStateFile(path: path)) { try DeviceStore.opened(path) }
    #expect(throws: DeviceSetUpError.noStateFile(path: "/dev/null")) { try DeviceStore.opened("/dev/null") }
    let missing = folder.file("missing/state")
    #expect(throws: DeviceSetUpError.state(path: missing, reason: "No such file or directory")) {
      try DeviceStore.opened(missing)
    }
    #expect(TemporaryFolder.bytes(folder.file("state")) == StateFile.header.dropLast() + [2])
  }

  /// As the first version wrote it, which knew no notifications from Apple: fingerprint, in hand, handled.
  @Test func filesOfTheFirstVersionAreRead() throws {
    let old =
      "42524c5344455601" + "0000000001000000030102030f373010" + "0000000005000000080000000000000007f17c7515"
      + "000000000600000010" + "00000000000000050000000000000006" + "ab57724e"
    try TemporaryFolder.write(try #require(Hex.decode(old)), to: folder.file("state"))
    var store: DeviceStore? = try DeviceStore.opened(path)
    let stored = try #require(store?.load(0))
    #expect(stored.fingerprint == [1, 2, 3] && stored.inHand == [MessageID(7)])
    #expect(stored.handled.oldestFirst == [MessageID(5), MessageID(6)] && stored.notified.count == 0)
    store?.append([.notified([MessageID(6)])], for: 0)
    store = nil
    #expect(try DeviceStore.opened(path).load(0).notified.oldestFirst == [MessageID(6)])
  }

  @Test func notificationsAreForgottenInTheEnd() throws {
    var store: DeviceStore? = try DeviceStore.opened(path)
    for id in 1...10_000 as ClosedRange<UInt64> { store?.append([.notified([MessageID(id)])], for: 0) }
    store = nil
    let stored = try DeviceStore.opened(path).load(0)
    let count = UInt64(RecentMessages.defaultCapacity)
    #expect(stored.notified.oldestFirst == (10_001 - count...10_000).map { MessageID($0) })
    #expect(TemporaryFolder.bytes(folder.file("state")).count < 150_000)
  }

  @Test func oldPushesInHandAreForgotten() {
    var stored = StoredDevice()
    for id in 1...10_000 as ClosedRange<UInt64> { stored.apply(.inHand([MessageID(id)])) }
    #expect(stored.inHand.count <= 2 * StoredDevice.mostInHand)
    #expect(stored.inHand.contains(MessageID(10_000)) && !stored.inHand.contains(MessageID(1)))
  }
}
