import BorealisBase
import Core
import Model

/// A push as nodes tell it: what its devices need of it, without what other channels get.
enum PushCoding {
  /// Nanoseconds after which a push that was on its way may have ended or been recalled: sessions ask the
  /// home instead.
  static let longestWay: UInt64 = 3_000_000_000

  /// Bytes for some targets, whose notification another channel may carry; nil if there are too many.
  static func encode(_ push: StoredPush, for targets: NumberSet, atMost limit: Int) -> [UInt8]? {
    let elsewhere = push.elsewhere.map { $0.intersection(targets) }
    return encode(push, elsewhere: elsewhere.flatMap { $0.isEmpty ? nil : $0 }, atMost: limit)
  }

  private static func encode(_ push: StoredPush, elsewhere: NumberSet?, atMost limit: Int)
    -> [UInt8]?
  {
    let content = push.content.ofConnection.encode()
    let numbers = elsewhere?.serialized() ?? []
    guard content.count + numbers.count + 5 <= limit else { return nil }
    var writer = ByteWriter(capacity: content.count + numbers.count + 5)
    writer.write(push.strategy.number)
    writer.write(UInt32(numbers.count))
    writer.write(bytes: numbers)
    writer.write(bytes: content)
    return writer.bytes
  }

  /// Reads a push; nil if the bytes are none. `waited` must not show its notification from a moment on, in
  /// Unix milliseconds; 0 for no such moment.
  static func decode(_ bytes: [UInt8], showBefore: UInt64 = 0, waited: NumberSet? = nil) -> StoredPush? {
    guard let push = decodePlain(bytes) else { return nil }
    guard let waited, let moment = Int64(exactly: showBefore), moment > 0 else { return push }
    let fallback = PushFallback(targets: waited, showBefore: Timestamp(milliseconds: moment))
    return StoredPush(
      content: push.content, strategy: push.strategy, elsewhere: push.elsewhere, fallback: fallback)
  }

  /// The moment from which on a registration must not show a notification, as messages have it.
  static func showBefore(_ push: StoredPush, _ number: RegistrationNumber) -> UInt64 {
    push.showBefore(number).map { UInt64(clamping: $0.milliseconds) } ?? 0
  }

  /// A push for a few sessions of some registrations, as their gateway has it; nil if the bytes are none.
  static func live(
    _ push: SinglePush, of app: AppID, _ numbers: NumberSet, age: UInt64, now: Timestamp
  ) -> LivePush? {
    decode(push.content, showBefore: push.showBefore, waited: numbers).map {
      LivePush(app: app, id: push.id, push: $0, expires: expires(push.endsIn, age: age, now: now))
    }
  }

  /// The same of a push for many.
  static func live(
    _ push: FanOutMessage, of app: AppID, age: UInt64, now: Timestamp
  ) -> LivePush? {
    decode(push.content, showBefore: push.showBefore, waited: NumberSet(serialized: push.waited)).map {
      LivePush(app: app, id: push.id, push: $0, expires: expires(push.endsIn, age: age, now: now))
    }
  }

  private static func decodePlain(_ bytes: [UInt8]) -> StoredPush? {
    var reader = ByteReader(bytes)
    guard let number = reader.read(UInt8.self), let strategy = Strategy(number: number),
      let count = reader.read(UInt32.self), let numbers = reader.read(count: Int(count)),
      let rest = reader.read(count: reader.remaining), let content = PushContent(decoding: rest)
    else { return nil }
    guard !numbers.isEmpty else { return StoredPush(content: content, strategy: strategy) }
    guard let elsewhere = NumberSet(serialized: numbers) else { return nil }
    return StoredPush(content: content, strategy: strategy, elsewhere: elsewhere)
  }

  /// A push for one session; nil if it is too large.
  static func single(
    _ push: LivePush, _ number: RegistrationNumber, at handle: Handle, now: Timestamp
  ) -> SinglePush? {
    encode(push.push, for: NumberSet([number]), atMost: ClusterLimits.maxContent).map {
      SinglePush(
        id: push.id, handles: [handle], content: $0, showBefore: showBefore(push.push, number),
        endsIn: endsIn(push, now))
    }
  }

  /// Milliseconds until a push ends, at least one; 0 if that is not known.
  private static func endsIn(_ push: LivePush, _ now: Timestamp) -> UInt64 {
    push.expires.map { UInt64(clamping: max(1, $0.milliseconds - now.milliseconds)) } ?? 0
  }

  /// When a push ends that a home has told a while ago; nil if it did not say it.
  static func expires(_ endsIn: UInt64, age: UInt64, now: Timestamp) -> Timestamp? {
    guard endsIn > 0, let left = Int64(exactly: endsIn), left < 1 << 50 else { return nil }
    return Timestamp(milliseconds: now.milliseconds + left - Int64(age / 1_000_000))
  }

  /// The answer to a session that asked for what waits for it after a push.
  static func answer(
    _ pushes: PulledPushes, for number: RegistrationNumber, at handle: Handle, after: MessageID
  ) -> PulledPart {
    let outcome = encode(pushes, for: number)
    return PulledPart(
      handle: handle, after: after, outcome: outcome,
      showBefore: showBefore(pushes, outcome, for: number))
  }

  /// A broadcast for the targets at a node: it goes there once for each language, or in a few parts more if
  /// its targets do not fit a frame.
  static func parts(_ push: LivePush, _ numbers: NumberSet, now: Timestamp) -> [FanOutMessage] {
    let parts = push.push.byLanguage(numbers).flatMap { Self.parts($0.push, $0.targets) }
    let moment = push.push.fallback.map { UInt64(clamping: $0.showBefore.milliseconds) } ?? 0
    return parts.enumerated().map { index, part in
      FanOutMessage(
        id: push.id, part: UInt32(index), hasMore: index < parts.count - 1, content: part.content,
        targets: part.targets, showBefore: part.waited.isEmpty ? 0 : moment, waited: part.waited,
        endsIn: endsIn(push, now))
    }
  }

  private static func parts(_ push: StoredPush, _ numbers: NumberSet) -> [(
    content: [UInt8], targets: [UInt8], waited: [UInt8]
  )] {
    guard !numbers.isEmpty else { return [] }
    let targets = numbers.serialized()
    let some = push.fallback?.targets.intersection(numbers)
    let waited = some.map { $0.isEmpty ? [] : $0.serialized() } ?? []
    if targets.count <= ClusterLimits.maxSet, waited.count <= ClusterLimits.maxSet,
      let content = encode(push, for: numbers, atMost: ClusterLimits.maxContent),
      content.count + targets.count + waited.count <= ClusterLimits.maxFrame - 1024
    {
      return [(content, targets, waited)]
    }
    let members = numbers.members()
    guard members.count > 1 else { return [] }
    let half = members.count / 2
    return parts(push, NumberSet(members[..<half])) + parts(push, NumberSet(members[half...]))
  }

  /// Of what is told of what waits for a registration the moments from which on it must not show
  /// notifications.
  static func showBefore(
    _ pushes: PulledPushes, _ outcome: PulledPart.Outcome, for number: RegistrationNumber
  ) -> [MessageID: UInt64] {
    guard case .pushes(let kept, _) = pushes, case .pushes(let told, _) = outcome else { return [:] }
    let ids = Set(told.map(\.id))
    return kept.reduce(into: [:]) { all, one in
      let moment = showBefore(one.push, number)
      if moment > 0, ids.contains(one.id) { all[one.id] = moment }
    }
  }

  /// What waits for a registration, as far as it fits a frame: a session asks for the rest.
  static func encode(_ pushes: PulledPushes, for number: RegistrationNumber) -> PulledPart.Outcome {
    guard case .pushes(let kept, var through) = pushes else {
      if case .nothing = pushes { return .nothing }
      return .unavailable
    }
    let target = NumberSet([number])
    var (parts, bytes): ([PulledPart.Push], Int) = ([], 0)
    for one in kept {
      guard let content = encode(one.push, for: target, atMost: ClusterLimits.maxContent) else {
        continue
      }
      bytes += content.count + 16
      if let last = parts.last, bytes > ClusterLimits.maxSet {
        through = last.id
        break
      }
      parts.append(PulledPart.Push(id: one.id, content: content))
    }
    return .pushes(parts, through: through)
  }

  /// What a home has answered of a registration's stored pushes. One that this version cannot read is as good
  /// as none.
  static func pushes(of answer: PulledPart, for number: RegistrationNumber?) -> PulledPushes {
    switch answer.outcome {
    case .nothing: return .nothing
    case .unavailable: return .unavailable
    case .pushes(let kept, let through):
      let numbers = number.map { NumberSet([$0]) }
      let read = kept.compactMap { one in
        decode(one.content, showBefore: answer.showBefore[one.id] ?? 0, waited: numbers)
          .map { KeptPush(id: one.id, push: $0) }
      }
      return .pushes(read, through: through)
    }
  }
}
