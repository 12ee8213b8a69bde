import BorealisBase
import Core

/// The pushes that are being recalled: nothing of them is sent.
struct HeldBackPushes: Sendable {
  private struct HeldPush: Sendable {
    var holders: Set<PushHolder> = []
    /// The registrations with requests in flight when that began, by leg.
    var inFlight: [UInt8: NumberSet] = [:]
    /// When to resume if the outcome is not reported.
    var until: Int64 = 0
  }

  private var pushes: [MessageID: HeldPush] = [:]

  func contains(_ id: MessageID) -> Bool { pushes[id] != nil }

  /// Holds a push until it is known whether it was recalled.
  mutating func hold(
    _ id: MessageID, by holder: PushHolder, inFlight: [UInt8: NumberSet], until second: Int64
  ) {
    var held = pushes[id] ?? HeldPush()
    held.holders.insert(holder)
    for (leg, numbers) in inFlight { held.inFlight[leg, default: NumberSet()].formUnion(numbers) }
    held.until = second
    pushes[id] = held
  }

  /// Resumes a push, unless another recall holds it.
  mutating func resume(_ id: MessageID, by holder: PushHolder) {
    pushes[id]?.holders.remove(holder)
    if pushes[id]?.holders.isEmpty == true { pushes[id] = nil }
  }

  /// Removes a push that was recalled; returns the registrations with requests in flight when that began, by
  /// leg.
  mutating func remove(_ id: MessageID) -> [UInt8: NumberSet] {
    pushes.removeValue(forKey: id)?.inFlight ?? [:]
  }

  /// Resumes those whose recall did not end in time.
  mutating func giveUp(at second: Int64) { pushes = pushes.filter { $0.value.until > second } }

  /// The clock was set back.
  mutating func followClock(back seconds: Int64) {
    for push in pushes.keys { pushes[push]?.until -= seconds }
  }
}
