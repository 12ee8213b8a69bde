import PushBase
import PushWire

/// PUSH_ONE: a push for a few sessions of one platform at a gateway.
public struct SinglePush: MessageBody {
  /// The push before it for the same app and gateway.
  public internal(set) var previous = MessageID(0)
  /// The push.
  public let id: MessageID
  /// The sessions.
  public let handles: [Handle]
  /// The platform's content, a JSON object.
  public let content: [UInt8]
  /// Another channel has its notification: the devices show none.
  public let hasNotificationElsewhere: Bool

  /// All fields but the one that the stream fills in.
  public init(id: MessageID, handles: [Handle], content: [UInt8], hasNotificationElsewhere: Bool) {
    self.id = id
    self.handles = handles
    self.content = content
    self.hasNotificationElsewhere = hasNotificationElsewhere
  }

  func write(into output: inout [UInt8]) {
    output.append(id: previous)
    output.append(id: id)
    output.append(list: handles) { $1.append(handle: $0) }
    output.append(flag: hasNotificationElsewhere)
    output.append(counted: content)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    previous = try reader.id(in: bytes)
    id = try reader.id(in: bytes)
    handles = try reader.handles(in: bytes)
    hasNotificationElsewhere = try reader.flag(in: bytes)
    content = try reader.counted(atMost: ClusterLimits.maxContent, in: bytes)
  }
}

/// PUSH_MANY: a push for a set of registrations at a gateway, or a part of it: contents and targets that do not fit one frame come
/// in several parts, which have effect when the last is there.
public struct FanOutPush: MessageBody {
  /// What the devices of a platform get.
  public struct Content: Hashable, Sendable {
    /// The platform.
    public let platform: UInt8
    /// Its content, a JSON object.
    public let bytes: [UInt8]

    /// Both fields.
    public init(platform: UInt8, bytes: [UInt8]) {
      self.platform = platform
      self.bytes = bytes
    }
  }

  /// The push before it for the same app and gateway.
  public internal(set) var previous = MessageID(0)
  /// The push.
  public let id: MessageID
  /// The number of the part, from 0.
  public let part: UInt32
  /// More parts follow.
  public let hasMore: Bool
  /// The contents of platforms that are connected there.
  public let contents: [Content]
  /// Targets, as a serialized Roaring set.
  public let targets: [UInt8]
  /// The set holds those sessions, confirmed before this message, that are not targets.
  public let isComplement: Bool

  /// All fields but the one that the stream fills in.
  public init(
    id: MessageID, part: UInt32 = 0, hasMore: Bool = false, contents: [Content], targets: [UInt8],
    isComplement: Bool
  ) {
    self.id = id
    self.part = part
    self.hasMore = hasMore
    self.contents = contents
    self.targets = targets
    self.isComplement = isComplement
  }

  func write(into output: inout [UInt8]) {
    output.append(id: previous)
    output.append(id: id)
    output.appendVarint(UInt64(part))
    output.append(flag: hasMore)
    output.append(list: contents) { content, output in
      output.append(content.platform)
      output.append(counted: content.bytes)
    }
    output.append(flag: isComplement)
    output.append(counted: targets)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    previous = try reader.id(in: bytes)
    id = try reader.id(in: bytes)
    part = try reader.smallVarint(in: bytes)
    hasMore = try reader.flag(in: bytes)
    contents = try reader.list(atMost: 255, bytesEach: 2, in: bytes) { reader throws(FrameError) in
      Content(
        platform: try reader.integer(in: bytes),
        bytes: try reader.counted(atMost: ClusterLimits.maxContent, in: bytes))
    }
    isComplement = try reader.flag(in: bytes)
    targets = try reader.counted(atMost: ClusterLimits.maxSet, in: bytes)
  }
}

/// REPLAYED: all open pushes up to one have been told; it stands in the stream like a push.
public struct ReplayEnd: MessageBody {
  /// The push before it for the same app and gateway.
  public internal(set) var previous = MessageID(0)
  /// Nothing up to this one is missing.
  public let through: MessageID

  /// The one field that the stream does not fill in.
  public init(through: MessageID) { self.through = through }

  func write(into output: inout [UInt8]) {
    output.append(id: previous)
    output.append(id: through)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    previous = try reader.id(in: bytes)
    through = try reader.id(in: bytes)
  }
}

/// LATE: sessions get a push that may be older than what they have got, since another channel failed or its delivery is paced. The
/// gateway pulls it; a DIGEST finds one that was lost.
public struct LatePush: MessageBody {
  /// Grows from one LATE for the app and gateway to the next.
  public let counter: UInt64
  /// The push.
  public let id: MessageID
  /// The sessions.
  public let handles: [Handle]

  /// All fields.
  public init(counter: UInt64, id: MessageID, handles: [Handle]) {
    self.counter = counter
    self.id = id
    self.handles = handles
  }

  func write(into output: inout [UInt8]) {
    output.appendVarint(counter)
    output.append(id: id)
    output.append(list: handles) { $1.append(handle: $0) }
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    counter = try reader.varint(in: bytes)
    id = try reader.id(in: bytes)
    handles = try reader.handles(in: bytes)
  }
}

/// PULLED: pushes that wait for a session, or a part of them.
public struct PulledPart: MessageBody {
  /// A push that waits.
  public struct Push: Hashable, Sendable {
    /// The push.
    public let id: MessageID
    /// The content for the session's platform, a JSON object.
    public let content: [UInt8]

    /// Both fields.
    public init(id: MessageID, content: [UInt8]) {
      self.id = id
      self.content = content
    }
  }

  /// The session.
  public let handle: Handle
  /// The push after which it had asked: an answer to an earlier question has no effect.
  public let after: MessageID
  /// All waiting pushes up to this one are in this part or in one before.
  public let through: MessageID
  /// More parts follow.
  public let hasMore: Bool
  /// The home cannot read them now.
  public let isUnavailable: Bool
  /// The pushes, oldest first.
  public let pushes: [Push]

  /// All fields.
  public init(
    handle: Handle, after: MessageID, through: MessageID, hasMore: Bool, isUnavailable: Bool = false,
    pushes: [Push]
  ) {
    self.handle = handle
    self.after = after
    self.through = through
    self.hasMore = hasMore
    self.isUnavailable = isUnavailable
    self.pushes = pushes
  }

  func write(into output: inout [UInt8]) {
    output.append(handle: handle)
    output.append(id: after)
    output.append(id: through)
    output.append(flag: hasMore)
    output.append(flag: isUnavailable)
    output.append(list: pushes) { push, output in
      output.append(id: push.id)
      output.append(counted: push.content)
    }
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    handle = try reader.handle(in: bytes)
    after = try reader.id(in: bytes)
    through = try reader.id(in: bytes)
    hasMore = try reader.flag(in: bytes)
    isUnavailable = try reader.flag(in: bytes)
    pushes = try reader.list(bytesEach: 9, in: bytes) { reader throws(FrameError) in
      Push(
        id: try reader.id(in: bytes),
        content: try reader.counted(atMost: ClusterLimits.maxContent, in: bytes))
    }
  }
}

extension BodyReader {
  fileprivate mutating func handles(in bytes: Span<UInt8>) throws(FrameError) -> [Handle] {
    try list(atMost: ClusterLimits.maxHandles, bytesEach: 11, in: bytes) { reader throws(FrameError) in
      try reader.handle(in: bytes)
    }
  }
}
