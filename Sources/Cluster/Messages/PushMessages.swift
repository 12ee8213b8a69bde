import BorealisBase
import BorealisProtocol

/// PUSH_ONE: a push for a few sessions at a gateway. Several may carry one push.
package struct SinglePush: MessageBody {
  /// The push before it for the same app and gateway; the same push if this message continues one.
  package internal(set) var previous = MessageID(0)
  /// The push.
  package let id: MessageID
  /// The sessions.
  package let handles: [Handle]
  /// What the devices get of it.
  package let content: [UInt8]
  /// The moment from which on the devices must not show the notification, as Unix milliseconds; 0 for no such
  /// moment.
  package let showBefore: UInt64
  /// Milliseconds until it ends, from when this was said; 0 if the home does not say it.
  package let endsIn: UInt64

  /// All fields but the one that the stream fills in.
  package init(
    id: MessageID, handles: [Handle], content: [UInt8], showBefore: UInt64 = 0, endsIn: UInt64 = 0
  ) {
    self.id = id
    self.handles = handles
    self.content = content
    self.showBefore = showBefore
    self.endsIn = endsIn
  }

  func write(into output: inout [UInt8]) {
    output.append(id: previous)
    output.append(id: id)
    output.append(list: handles) { $1.append(handle: $0) }
    output.append(counted: content)
    output.appendVarint(showBefore)
    output.appendVarint(endsIn)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    previous = try reader.id(in: bytes)
    id = try reader.id(in: bytes)
    handles = try reader.handles(in: bytes)
    content = try reader.counted(atMost: ClusterLimits.maxContent, in: bytes)
    showBefore = reader.rest.isEmpty ? 0 : try reader.varint(in: bytes)
    endsIn = reader.rest.isEmpty ? 0 : try reader.varint(in: bytes)
  }
}

/// PUSH_MANY: a push for a set of registrations at a gateway. Targets that do not fit one frame come in
/// several parts, each with the content, so that each has effect by itself.
package struct FanOutMessage: MessageBody {
  /// The push before it for the same app and gateway.
  package internal(set) var previous = MessageID(0)
  /// The push.
  package let id: MessageID
  /// The number of the part, from 0.
  package let part: UInt32
  /// More parts follow.
  package let hasMore: Bool
  /// What the devices get of it.
  package let content: [UInt8]
  /// Targets, as a serialized Roaring set.
  package let targets: [UInt8]
  /// The moment from which on some of them must not show the notification, as Unix milliseconds; 0 for no
  /// such moment.
  package let showBefore: UInt64
  /// These, as a serialized Roaring set.
  package let waited: [UInt8]
  /// Milliseconds until it ends, from when this was said; 0 if the home does not say it.
  package let endsIn: UInt64

  /// All fields but the one that the stream fills in.
  package init(
    id: MessageID, part: UInt32 = 0, hasMore: Bool = false, content: [UInt8], targets: [UInt8],
    showBefore: UInt64 = 0, waited: [UInt8] = [], endsIn: UInt64 = 0
  ) {
    self.id = id
    self.part = part
    self.hasMore = hasMore
    self.content = content
    self.targets = targets
    self.showBefore = showBefore
    self.waited = waited
    self.endsIn = endsIn
  }

  func write(into output: inout [UInt8]) {
    output.append(id: previous)
    output.append(id: id)
    output.appendVarint(UInt64(part))
    output.append(flag: hasMore)
    output.append(counted: content)
    output.append(counted: targets)
    output.appendVarint(showBefore)
    output.append(counted: waited)
    output.appendVarint(endsIn)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    previous = try reader.id(in: bytes)
    id = try reader.id(in: bytes)
    part = try reader.smallVarint(in: bytes)
    hasMore = try reader.flag(in: bytes)
    content = try reader.counted(atMost: ClusterLimits.maxContent, in: bytes)
    targets = try reader.counted(atMost: ClusterLimits.maxSet, in: bytes)
    guard !reader.rest.isEmpty else {
      (showBefore, waited, endsIn) = (0, [], 0)
      return
    }
    showBefore = try reader.varint(in: bytes)
    waited = try reader.counted(atMost: ClusterLimits.maxSet, in: bytes)
    endsIn = reader.rest.isEmpty ? 0 : try reader.varint(in: bytes)
  }
}

/// REPLAYED: the open pushes up to one count as told; it stands in the stream like a push. Sessions ask by
/// PULL for what they miss.
package struct ReplayEnd: MessageBody {
  /// The push before it for the same app and gateway.
  package internal(set) var previous = MessageID(0)
  /// Nothing up to this one is missing.
  package let through: MessageID
  /// The newest question of the gateway that it answers, 0 for none; nil if the home is of the version
  /// before, which does not say it.
  package let answers: UInt32?

  /// The fields that the stream does not fill in.
  package init(through: MessageID, answers: UInt32? = 0) {
    self.through = through
    self.answers = answers
  }

  func write(into output: inout [UInt8]) {
    output.append(id: previous)
    output.append(id: through)
    if let answers { output.appendVarint(UInt64(answers)) }
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    previous = try reader.id(in: bytes)
    through = try reader.id(in: bytes)
    answers = reader.rest.isEmpty ? nil : try reader.smallVarint(in: bytes)
  }
}

/// LATE: sessions get a push that may be older than what they have got, since another channel failed or its
/// delivery is paced. Sent again until LATE_TAKEN.
package struct LatePush: MessageBody {
  /// Grows from one LATE for the gateway to the next.
  package let counter: UInt64
  /// The push.
  package let id: MessageID
  /// The sessions.
  package let handles: [Handle]
  /// What the devices get of it.
  package let content: [UInt8]

  package init(counter: UInt64, id: MessageID, handles: [Handle], content: [UInt8]) {
    self.counter = counter
    self.id = id
    self.handles = handles
    self.content = content
  }

  func write(into output: inout [UInt8]) {
    output.appendVarint(counter)
    output.append(id: id)
    output.append(list: handles) { $1.append(handle: $0) }
    output.append(counted: content)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    counter = try reader.varint(in: bytes)
    id = try reader.id(in: bytes)
    handles = try reader.handles(in: bytes)
    content = try reader.counted(atMost: ClusterLimits.maxContent, in: bytes)
  }
}

/// PULLED: pushes that wait for a session.
package struct PulledPart: MessageBody {
  /// A push that waits.
  package struct Push: Hashable, Sendable {
    /// The push.
    package let id: MessageID
    /// What the device gets of it.
    package let content: [UInt8]

    /// Both fields.
    package init(id: MessageID, content: [UInt8]) {
      self.id = id
      self.content = content
    }
  }

  /// What there is.
  package enum Outcome: Hashable, Sendable {
    /// Nothing waits.
    case nothing
    /// All waiting pushes up to one, oldest first.
    case pushes([Push], through: MessageID)
    /// The home cannot read them now.
    case unavailable
  }

  /// The session.
  package let handle: Handle
  /// The push after which it had asked: an answer to an earlier question has no effect.
  package let after: MessageID
  /// What there is.
  package let outcome: Outcome
  /// Of some of these pushes the moment from which on the device must not show the notification, as Unix
  /// milliseconds.
  package let showBefore: [MessageID: UInt64]

  package init(
    handle: Handle, after: MessageID, outcome: Outcome, showBefore: [MessageID: UInt64] = [:]
  ) {
    self.handle = handle
    self.after = after
    self.outcome = outcome
    self.showBefore = showBefore
  }

  func write(into output: inout [UInt8]) {
    output.append(handle: handle)
    output.append(id: after)
    switch outcome {
    case .nothing: output.append(0)
    case .unavailable: output.append(2)
    case .pushes(let pushes, let through):
      output.append(1)
      output.append(id: through)
      output.append(list: pushes) { push, output in
        output.append(id: push.id)
        output.append(counted: push.content)
      }
      output.append(list: showBefore.sorted { $0.key < $1.key }) { one, output in
        output.append(id: one.key)
        output.appendVarint(one.value)
      }
    }
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    handle = try reader.handle(in: bytes)
    after = try reader.id(in: bytes)
    var showBefore: [MessageID: UInt64] = [:]
    switch try reader.integer(UInt8.self, in: bytes) {
    case 0: outcome = .nothing
    case 1:
      let through = try reader.id(in: bytes)
      let pushes = try reader.list(bytesEach: 9, in: bytes) { reader throws(FrameError) in
        Push(
          id: try reader.id(in: bytes),
          content: try reader.counted(atMost: ClusterLimits.maxContent, in: bytes))
      }
      outcome = .pushes(pushes, through: through)
      guard !reader.rest.isEmpty else { break }
      let moments = try reader.list(bytesEach: 9, in: bytes) { reader throws(FrameError) in
        (try reader.id(in: bytes), try reader.varint(in: bytes))
      }
      for (id, moment) in moments { showBefore[id] = moment }
    case 2: outcome = .unavailable
    default: throw .invalidValue
    }
    self.showBefore = showBefore
  }
}

extension BodyReader {
  fileprivate mutating func handles(in bytes: Span<UInt8>) throws(FrameError) -> [Handle] {
    try list(atMost: ClusterLimits.maxHandles, bytesEach: 11, in: bytes) { reader throws(FrameError) in
      try reader.handle(in: bytes)
    }
  }
}
