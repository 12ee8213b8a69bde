import PushNet
import Synchronization

/// Limits what one network may use before its devices have logged in. Shared by all loops.
///
/// Devices that are logged in do not count: thousands of them may sit behind one carrier's address.
public final class PeerGuard: Sendable {
  private struct Entry {
    /// Connections without a login.
    var unauthenticated: UInt32 = 0
    /// Registrations left in the current minute.
    var registrations: UInt32
    var minute: UInt32
    /// Registrations of this minute that were refused and given back.
    var returned: UInt32 = 0
  }

  private let unauthenticated: UInt32
  private let registrations: UInt32
  /// Requests of devices after their login.
  let operations = OperationLimit()
  private let entries = Mutex<[PeerNetwork: Entry]>([:])
  private let accepted = Atomic<UInt32>(0)

  /// Allows each network this many connections without a login at a time, and this many registrations per minute.
  public init(unauthenticated: UInt32 = 5_000, registrationsPerMinute: UInt32 = 3_000) {
    self.unauthenticated = unauthenticated
    registrations = registrationsPerMinute
  }

  /// How many connections there were before a new one, on all loops.
  func countConnection() -> UInt32 { accepted.wrappingAdd(1, ordering: .relaxed).oldValue }

  /// Counts a new connection; false if the network has too many already.
  func enter(_ network: PeerNetwork, at second: UInt32) -> Bool {
    entries.withLock { entries in
      var entry = entries[network] ?? Entry(registrations: registrations, minute: second / 60)
      guard entry.unauthenticated < unauthenticated else { return false }
      entry.unauthenticated += 1
      entries[network] = entry
      return true
    }
  }

  /// A connection has logged in or has ended.
  func leave(_ network: PeerNetwork, at second: UInt32) {
    entries.withLock { entries in
      guard var entry = entries[network] else { return }
      entry.unauthenticated -= min(1, entry.unauthenticated)
      // Remembered only for as long as it limits something.
      let isTouched = entry.registrations < registrations || entry.returned > 0
      let isSpent = isTouched && entry.minute == second / 60
      entries[network] = entry.unauthenticated > 0 || isSpent ? entry : nil
    }
  }

  /// The first place among `networks` of the one with most connections without a login, if it has over twice as many as `network`;
  /// nil if none has. With a smaller difference each of two networks would push out the other's in turn.
  func mostCrowded(_ networks: [PeerNetwork], overTwice network: PeerNetwork) -> Int? {
    entries.withLock { entries in
      var (place, most) = (Int?.none, 2 * (entries[network]?.unauthenticated ?? 0))
      for (index, one) in networks.enumerated() {
        guard let count = entries[one]?.unauthenticated, count > most else { continue }
        (place, most) = (index, count)
      }
      return place
    }
  }

  /// Takes one registration from the network's share of this minute; false if none is left.
  func mayRegister(_ network: PeerNetwork, at second: UInt32) -> Bool {
    entries.withLock { entries in
      var entry = entries[network] ?? Entry(registrations: registrations, minute: second / 60)
      if entry.minute != second / 60 {
        entry.minute = second / 60
        entry.registrations = registrations
        entry.returned = 0
      }
      defer { entries[network] = entry }
      guard entry.registrations > 0 else { return false }
      entry.registrations -= 1
      return true
    }
  }

  /// Gives back what a registration took that was refused, as for an unknown app: such devices must not take the others' share.
  /// Only as many a minute as there are in it, since to look for an unknown app costs something, too; with `isFree` nobody
  /// looked.
  func returnRegistration(_ network: PeerNetwork, at second: UInt32, isFree: Bool = false) {
    entries.withLock { entries in
      guard var entry = entries[network], entry.minute == second / 60, entry.registrations < registrations,
        isFree || entry.returned < registrations
      else { return }
      entry.registrations += 1
      if !isFree { entry.returned += 1 }
      entries[network] = entry
    }
  }

  /// Forgets networks that have nothing open and a fresh share; called about once a minute.
  func sweep(at second: UInt32) {
    entries.withLock { entries in
      entries = entries.filter { $0.value.unauthenticated > 0 || $0.value.minute == second / 60 }
    }
  }
}
