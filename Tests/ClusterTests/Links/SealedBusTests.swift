import BorealisBase
import BorealisCrypto
import PushTesting
import Synchronization
import Testing

@testable import Cluster

/// A bus that keeps what it is given, and hands out what a test puts into it.
private final class LoopBus: Bus {
  let given = Mutex<[[UInt8]]>([])
  let coming = Mutex<[[UInt8]]>([])
  var counts: BusCounts { BusCounts() }

  func publish(_ frame: [UInt8], to target: BusTarget) -> Bool {
    given.withLock { $0.append(frame) }
    return true
  }

  func drain() -> (frames: [[UInt8]], events: [BusEvent]) {
    coming.withLock { coming in
      defer { coming = [] }
      return (coming, [])
    }
  }

  func close() {}
}

@Suite struct SealedBusTests {
  private static let (one, other) = (SealingKeys.makeLine(), SealingKeys.makeLine())
  private let time = ManualClock()

  private func keys(_ text: String) throws -> FrameKeys { FrameKeys(try SealingKeys(text: text)) }

  /// A node of this version, whose file holds what `file` says.
  private func node(
    _ text: String = one, allOpen: Bool = true, file: String? = nil
  ) throws -> (bus: LoopBus, sealed: SealedBus, sealing: FrameSealing) {
    let bus = LoopBus()
    let later = try keys(file ?? text)
    let sealing = FrameSealing(try keys(text), time: time) { later }
    sealing.follow(allOpen: allOpen)
    return (bus, SealedBus(bus, sealing), sealing)
  }

  private func pass(_ frames: [[UInt8]], from: (bus: LoopBus, sealed: SealedBus, sealing: FrameSealing))
    -> [[UInt8]]
  {
    for frame in frames { from.sealed.publish(frame, to: .all) }
    return from.bus.given.withLock { given in
      defer { given = [] }
      return given
    }
  }

  private func received(
    _ frames: [[UInt8]], at node: (bus: LoopBus, sealed: SealedBus, sealing: FrameSealing)
  ) -> (frames: [[UInt8]], events: [BusEvent]) {
    node.bus.coming.withLock { $0 = frames }
    return node.sealed.drain()
  }

  @Test func `Frames are not readable on the bus and the same behind it`() throws {
    let (a, b) = (try node(), try node())
    let frames: [[UInt8]] = [Array("hello, hello, hello".utf8), [], [UInt8](repeating: 7, count: 256 << 10)]
    let sealed = pass(frames, from: a)
    #expect(sealed.map(\.count) == frames.map { $0.count + FrameSeal.overhead })
    #expect(sealed.allSatisfy { $0.count <= ClusterLimits.maxSealedFrame })
    #expect(!sealed[0].contains(Array("hello".utf8)))
    #expect(received(sealed, at: b).frames == frames)
    // Once more, as a bus may do, and as nobody else's.
    #expect(received(sealed, at: b).frames == frames)
    #expect(pass([frames[0]], from: a) != [sealed[0]])
  }

  @Test func `What was changed or sealed with another key is dropped and said once`() throws {
    let (a, b, outsider) = (try node(), try node(), try node(Self.other))
    let frame = Array("a frame".utf8)
    let sealed = try #require(pass([frame], from: a).first)
    var wrong = sealed.indices.map { index in
      var changed = sealed
      changed[index] ^= 1
      return changed
    }
    wrong += [
      Array(sealed.dropLast()), sealed + [0], Array(sealed.prefix(FrameSeal.overhead - 1)), [0xff], [],
    ]
    wrong += pass([frame], from: outsider) + [frame]
    let first = received(wrong + [sealed], at: b)
    #expect(first.frames == [frame] && first.events == [.unsealed])
    #expect(received(wrong, at: b).events == [])
    #expect(b.sealed.counts.unsealed == UInt64(2 * wrong.count))
  }

  /// Nodes of the version before neither seal nor open.
  @Test func `Beside older nodes frames are plain, and both kinds are taken`() throws {
    let (new, mixed) = (try node(), try node(allOpen: false))
    let frame = Array("a frame".utf8)
    #expect(pass([frame], from: mixed) == [frame])
    #expect(received([frame] + pass([frame], from: new), at: mixed).frames == [frame, frame])
    // The last one has ended: not all nodes know it yet.
    mixed.sealing.follow(allOpen: true)
    #expect(pass([frame], from: mixed) != [frame])
    #expect(received([frame], at: mixed).frames == [frame])
    time.advance(seconds: 10)
    mixed.sealing.follow(allOpen: true)
    #expect(received([frame], at: mixed).frames == [])
  }

  @Test func `A node reads its file again for a key that it does not know, once a second`() throws {
    let both = Self.other + Self.one
    let (newer, older) = (try node(both), try node(Self.one, file: both))
    let frame = Array("a frame".utf8)
    let sealed = pass([frame], from: newer)
    #expect(received(sealed, at: older).frames == [])
    time.advance(seconds: 1)
    #expect(received(sealed, at: older).frames == [frame])
    // From then on it seals with the new one, and opens what is sealed with the old one.
    let old = pass([frame], from: try node())
    #expect(received(old, at: older).frames == [frame])
    #expect(received(pass([frame], from: older), at: newer).frames == [frame])
  }
}
