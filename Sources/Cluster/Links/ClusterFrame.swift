import BorealisBase
import BorealisProtocol

/// Why bytes are not a frame that this node reads. What was in it counts as lost.
package enum ClusterFrameError: Error, Hashable, Sendable {
  /// The bytes are malformed.
  case malformed(FrameError)
  /// It belongs to another cluster.
  case otherCluster
  /// It is of a version that this program does not speak.
  case version(UInt8)
}

/// What a frame begins with. It stays the same in all versions.
package struct FrameHead: Hashable, Sendable {
  /// The version of what follows.
  package let version: UInt8
  /// What the entries are.
  package let type: MessageType
  /// The sender.
  package let from: Incarnation
  /// The receiver; `Incarnation.none` for all.
  package let to: Incarnation
  /// Counts the frames from one node to another, from 1; 0 for frames outside of their order.
  package let sequence: UInt64

  package init(
    version: UInt8 = ClusterLimits.versions.upperBound, type: MessageType, from: Incarnation, to: Incarnation,
    sequence: UInt64
  ) {
    self.version = version
    self.type = type
    self.from = from
    self.to = to
    self.sequence = sequence
  }

  /// Reads the head of a frame, not its entries. HELLO may be of any version.
  package init(
    of frame: [UInt8], cluster: ClusterName, versions: ClosedRange<UInt8> = ClusterLimits.versions
  ) throws(ClusterFrameError) {
    self = try Self.read(frame, cluster, versions).0
  }

  /// The head, and where the entries are read from.
  fileprivate static func read(
    _ frame: [UInt8], _ cluster: ClusterName, _ versions: ClosedRange<UInt8>
  ) throws(ClusterFrameError) -> (FrameHead, BodyReader) {
    let (name, head, reader) = try refusing { () throws(FrameError) in
      guard frame.count <= ClusterLimits.maxFrame else { throw .frameTooLarge }
      let bytes = frame.span
      var reader = try BodyReader(0..<bytes.count, in: bytes)
      let name = try reader.text(in: bytes)
      let head = FrameHead(
        version: try reader.integer(in: bytes), type: MessageType(rawValue: try reader.integer(in: bytes)),
        from: Incarnation(try reader.varint(in: bytes)), to: Incarnation(try reader.varint(in: bytes)),
        sequence: try reader.varint(in: bytes))
      guard head.from != .none else { throw .invalidValue }
      return (name, head, reader)
    }
    guard name == cluster.mark else { throw .otherCluster }
    guard head.type == .hello || versions.contains(head.version) else { throw .version(head.version) }
    return (head, reader)
  }

  func write(_ cluster: ClusterName, into output: inout [UInt8]) {
    output.append(text: cluster.mark)
    output.append(version)
    output.append(type.rawValue)
    output.appendVarint(from.rawValue)
    output.appendVarint(to.rawValue)
    output.appendVarint(sequence)
  }

  /// Most bytes of a head, of the number of entries and of the moment behind them.
  static let maxBytes = 1 + ClusterLimits.maxName + 1 + ClusterLimits.maxDatabase + 2 + 3 * 10 + 2 + 10
}

/// A message and the app that it is about.
package struct ClusterEntry: Hashable, Sendable {
  /// The app; `AppID.none` for what belongs to no app.
  package let app: AppID
  /// The epoch in which the sender, or the home that the sender speaks to, has the app.
  package let epoch: Epoch
  package let message: ClusterMessage

  package init(app: AppID, epoch: Epoch, _ message: ClusterMessage) {
    self.app = app
    self.epoch = epoch
    self.message = message
  }

  /// Appends app, epoch, and the body behind its length.
  func write(into output: inout [UInt8]) {
    output.appendVarint(UInt64(app.rawValue))
    output.appendVarint(epoch.rawValue)
    var body: [UInt8] = []
    message.write(into: &body)
    output.append(counted: body)
  }
}

/// What goes over the bus in one piece: messages of one type from one node to another, or to all.
package struct ClusterFrame: Hashable, Sendable {
  package let head: FrameHead
  /// The messages; none if this program does not know the type.
  package let entries: [ClusterEntry]
  /// When the first of them was said, in milliseconds of the sender's clock since boot; 0 if the sender does
  /// not say it.
  package let saidAt: UInt64

  /// Reads a frame. Bytes behind the moment, and behind the fields of an entry that this program knows, come
  /// from a later version and are skipped.
  package init(
    _ frame: [UInt8], cluster: ClusterName, versions: ClosedRange<UInt8> = ClusterLimits.versions
  ) throws(ClusterFrameError) {
    var (head, reader) = try FrameHead.read(frame, cluster, versions)
    (entries, saidAt) = try refusing { () throws(FrameError) in
      let bytes = frame.span
      let count = try reader.varint(in: bytes)
      guard count <= ClusterLimits.maxEntries else { throw .invalidCount }
      var entries: [ClusterEntry] = []
      for _ in 0..<count {
        let app = AppID(try reader.smallVarint(in: bytes))
        let epoch = Epoch(try reader.varint(in: bytes))
        guard let length = Int(exactly: try reader.varint(in: bytes)) else { throw .truncatedBody }
        var body = try BodyReader(try reader.readRange(length), in: bytes)
        if let message = try ClusterMessage(head.type, from: &body, in: bytes) {
          entries.append(ClusterEntry(app: app, epoch: epoch, message))
        }
      }
      // The version before does not say it.
      return (entries, reader.rest.isEmpty ? 0 : try reader.varint(in: bytes))
    }
    self.head = head
  }

  /// The bytes of a frame of messages that all have the head's type; nil if they are too many or too large.
  package static func encode(
    _ head: FrameHead, _ entries: [ClusterEntry], saidAt: UInt64 = 0, cluster: ClusterName
  ) -> [UInt8]? {
    var body: [UInt8] = []
    for entry in entries {
      guard entry.message.type == head.type else { return nil }
      entry.write(into: &body)
    }
    return encode(head, count: entries.count, entries: body, saidAt: saidAt, cluster: cluster)
  }

  /// The same with entries that are encoded already.
  static func encode(
    _ head: FrameHead, count: Int, entries: [UInt8], saidAt: UInt64, cluster: ClusterName
  ) -> [UInt8]? {
    guard count <= ClusterLimits.maxEntries else { return nil }
    var frame: [UInt8] = []
    frame.reserveCapacity(FrameHead.maxBytes + entries.count)
    head.write(cluster, into: &frame)
    frame.appendVarint(UInt64(count))
    frame.append(contentsOf: entries)
    if saidAt > 0 { frame.appendVarint(saidAt) }
    return frame.count <= ClusterLimits.maxFrame ? frame : nil
  }
}

/// Runs what reads bytes; its errors mean that a frame is malformed.
private func refusing<Value>(_ read: () throws(FrameError) -> Value) throws(ClusterFrameError) -> Value {
  do throws(FrameError) { return try read() } catch { throw .malformed(error) }
}
