import Cluster

private let cluster = ClusterName("test")

/// Frames between nodes: what decodes must decode to the same when it is encoded again, and what is sent to a
/// node never traps.
@Sendable func fuzzClusterFrames(_ bytes: [UInt8]) {
  guard let cluster else { return }
  if let frame = try? ClusterFrame(bytes, cluster: cluster) {
    check(frame.entries.count <= ClusterLimits.maxEntries, "entries are bounded")
    let head = try? FrameHead(of: bytes, cluster: cluster)
    check(head == frame.head, "the head is read alike by itself")
    // Of an unknown type there are no entries, and a frame may have had room for fields of later versions.
    let again = ClusterFrame.encode(frame.head, frame.entries, saidAt: frame.saidAt, cluster: cluster)
    if let again {
      check((try? ClusterFrame(again, cluster: cluster)) == frame, "a decoded frame is encoded to the same")
      for count in Set(cuts(again, stride: 8)) {
        // The moment at the end may be missing.
        let part = try? ClusterFrame(Array(again[..<count]), cluster: cluster)
        check(
          part == nil || part?.saidAt == 0 && part?.entries == frame.entries, "no truncated frame decodes")
      }
    } else {
      check(false, "a decoded frame can be encoded")
    }
  }
  visit(bytes, cluster)
}

/// A node that gets the bytes, as one frame and as those that its pieces are.
private func visit(_ bytes: [UInt8], _ cluster: ClusterName) {
  let hello = NodeHello(name: "a", address: "h:1", program: "1")
  var node = ClusterNode(cluster: cluster, incarnation: Incarnation(301), hello: hello, now: 1)
  var now: UInt64 = 1
  var start = 0
  for end in cuts(bytes, stride: 32) + [bytes.count] where end > start {
    node.receive(Array(bytes[start..<end]), now: now)
    node.receive(bytes, now: now)
    now += 100_000_000
    node.tick(now: now)
    start = end
  }
  check(node.heldBytes <= ClusterLimits.maxReorderBytes + ClusterLimits.maxFrame, "what waits is bounded")
  for item in node.drainOutput() {
    guard case .publish(let frame, _) = item else { continue }
    check((try? ClusterFrame(frame, cluster: cluster)) != nil, "what a node publishes can be read")
  }
}
