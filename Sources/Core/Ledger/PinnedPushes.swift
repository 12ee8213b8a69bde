import BorealisBase

/// Pushes whose end over our connection has to wait: it is being stored that they wait there for more
/// devices, whom a service refused. What has an end meanwhile in the ledger alone would be stored as the end
/// for these devices too.
struct PinnedPushes: Sendable {
  private enum State { case unknown, open, over }

  private struct Pin {
    var count = 0
    var state: State
  }

  private var pins: [MessageID: Pin] = [:]

  /// Pins a push; returns whether its end is yet to come. False if the ledger does not know it: its end is
  /// stored, or being stored.
  mutating func pin(_ id: MessageID, isOpen: Bool) -> Bool {
    var pin = pins[id] ?? Pin(state: isOpen ? .open : .unknown)
    pin.count += 1
    pins[id] = pin
    return pin.state == .open
  }

  func contains(_ id: MessageID) -> Bool { !pins.isEmpty && pins[id] != nil }

  /// Records that the ledger knows a push from now on.
  mutating func noteOpened(_ id: MessageID) {
    if contains(id), pins[id]?.state == .unknown { pins[id]?.state = .open }
  }

  /// Records an end that does not wait: the push expired, or was recalled.
  mutating func noteEnded(_ id: MessageID) {
    if contains(id) { pins[id]?.state = .over }
  }

  /// Whether a push has ended while it was pinned.
  func isOver(_ id: MessageID) -> Bool { pins[id]?.state == .over }

  /// Removes one pin; true if it was the last one of a push whose end is yet to come.
  mutating func unpin(_ id: MessageID) -> Bool {
    guard var pin = pins[id] else { return false }
    pin.count -= 1
    pins[id] = pin.count > 0 ? pin : nil
    return pin.count == 0 && pin.state == .open
  }
}
