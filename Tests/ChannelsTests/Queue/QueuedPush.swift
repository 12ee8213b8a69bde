import BorealisBase
import Model

@testable import Channels
@testable import Core
@testable import Storage

/// The content of a push that is never sent.
private final class Nothing: Sendable {}

/// A push as a channel gets it, with what the channel has to deliver of it.
struct QueuedPush {
  static let start = Timestamp(milliseconds: 1_790_000_000_000)

  let push: ChannelPush
  let parts: [QueuedPart]

  /// A push to as many numbers, the first ones unless told otherwise.
  init(
    _ id: UInt64, to count: UInt32, from start: UInt32 = 0, leg: UInt8 = DeliveryLeg.main,
    fallsBack: Bool = false, collapse: String? = nil
  ) {
    let row = AppRow(
      id: AppID(1), key: AppKey(high: 1, low: 1), name: "", secretHash: [], createdAt: Self.start,
      nextNumber: 0, isDisabled: false)
    let numbers = (start..<start + count).map { RegistrationNumber($0) }
    let targets: Recipients = count > 10 ? .many(NumberSet(numbers)) : .few(numbers)
    let stored = StoredPush(content: PushContent(variants: []), elsewhere: targets.numbers)
    push = ChannelPush(
      app: App(row, limits: PendingLimits(), at: Self.start), id: MessageID(id), targets: targets,
      push: stored, expires: Self.start.adding(seconds: 3600))
    let part = QueuedPart(
      leg: leg, targets: targets, slot: TokenSlot(.apns, kind: 1), fallsBack: fallsBack,
      collapse: collapse.map { Array($0.utf8) }, content: QueuedContent(Nothing()))
    parts = [part]
  }
}

extension QueueState {
  mutating func add(_ queued: QueuedPush) { add(queued.push, queued.parts, at: QueuedPush.start) }

  mutating func takeOver(_ queued: QueuedPush) -> Bool {
    takeOver(queued.push, queued.parts, results: [:], tried: [:], at: QueuedPush.start)
  }
}
