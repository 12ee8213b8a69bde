import BorealisNet
import Synchronization

/// Limits what one network may use before its devices have logged in. Shared by all loops.
///
/// Devices that are logged in do not count: thousands of them may sit behind one carrier's address.
package final class PeerGuard: Sendable {
  private struct Entry {
    /// Connections without a login.
    var unauthenticated: UInt32 = 0
    /// Registrations left in the current minute.
    var registrations: UInt32
    var minute: UInt32
    /// Registrations of this minute that were refused and given back.
    var returned: UInt32 = 0
  }

  /// What networks of one size may use, each of them.
  private struct Shares {
    let unauthenticated: UInt32
    let registrations: UInt32
    var entries: [PeerNetwork: Entry] = [:]

    func hasPlace(_ network: PeerNetwork) -> Bool {
      entries[network]?.unauthenticated ?? 0 < unauthenticated
    }

    mutating func enter(_ network: PeerNetwork, at second: UInt32) {
      entries[network, default: Entry(registrations: registrations, minute: second / 60)].unauthenticated += 1
    }

    mutating func leave(_ network: PeerNetwork, at second: UInt32) {
      guard var entry = entries[network] else { return }
      entry.unauthenticated -= min(1, entry.unauthenticated)
      // Remembered only for as long as it limits something.
      let isTouched = entry.registrations < registrations || entry.returned > 0
      let isSpent = isTouched && entry.minute == second / 60
      entries[network] = entry.unauthenticated > 0 || isSpent ? entry : nil
    }

    /// Whether a registration is left in this minute.
    mutating func mayRegister(_ network: PeerNetwork, at second: UInt32) -> Bool {
      var entry = entries[network] ?? Entry(registrations: registrations, minute: second / 60)
      if entry.minute != second / 60 {
        entry.minute = second / 60
        entry.registrations = registrations
        entry.returned = 0
      }
      entries[network] = entry
      return entry.registrations > 0
    }

    mutating func consume(_ network: PeerNetwork) { entries[network]?.registrations -= 1 }

    mutating func giveBack(_ network: PeerNetwork, at second: UInt32, isFree: Bool) {
      guard var entry = entries[network], entry.minute == second / 60, entry.registrations < registrations,
        isFree || entry.returned < registrations
      else { return }
      entry.registrations += 1
      if !isFree { entry.returned += 1 }
      entries[network] = entry
    }

    mutating func sweep(at second: UInt32) {
      entries = entries.filter { $0.value.unauthenticated > 0 || $0.value.minute == second / 60 }
    }
  }

  /// An IPv6 site has many networks: all together may use as much as so many of them.
  private static let networksInSite: UInt32 = 4

  private struct State {
    var networks: Shares
    var sites: Shares
  }

  /// Requests of devices after their login.
  let operations = OperationLimit()
  private let state: Mutex<State>
  private let accepted = Atomic<UInt32>(0)

  /// Allows each network this many connections without a login at a time, and this many registrations per
  /// minute.
  package init(unauthenticated: UInt32 = 5_000, registrationsPerMinute: UInt32 = 3_000) {
    func times(_ number: UInt32) -> UInt32 {
      UInt32(clamping: UInt64(number) * UInt64(Self.networksInSite))
    }
    state = Mutex(
      State(
        networks: Shares(unauthenticated: unauthenticated, registrations: registrationsPerMinute),
        sites: Shares(
          unauthenticated: times(unauthenticated), registrations: times(registrationsPerMinute))))
  }

  /// How many connections there were before a new one, on all loops.
  func countConnection() -> UInt32 { accepted.wrappingAdd(1, ordering: .relaxed).oldValue }

  /// Counts a new connection; false if the network, or its site, has too many already.
  func enter(_ network: PeerNetwork, at second: UInt32) -> Bool {
    state.withLock { state in
      guard state.networks.hasPlace(network), network.site.map({ state.sites.hasPlace($0) }) ?? true else {
        return false
      }
      state.networks.enter(network, at: second)
      if let site = network.site { state.sites.enter(site, at: second) }
      return true
    }
  }

  /// A connection has logged in or has ended.
  func leave(_ network: PeerNetwork, at second: UInt32) {
    state.withLock { state in
      state.networks.leave(network, at: second)
      if let site = network.site { state.sites.leave(site, at: second) }
    }
  }

  /// The first place among `networks` of the one with most connections without a login, if it has over twice
  /// as many as `network`; nil if none has. With a smaller difference each of two networks would push out the
  /// other's in turn.
  func mostCrowded(_ networks: [PeerNetwork], overTwice network: PeerNetwork) -> Int? {
    state.withLock { state in
      let entries = state.networks.entries
      var (place, most) = (Int?.none, 2 * (entries[network]?.unauthenticated ?? 0))
      for (index, one) in networks.enumerated() {
        guard let count = entries[one]?.unauthenticated, count > most else { continue }
        (place, most) = (index, count)
      }
      return place
    }
  }

  /// Consumes one registration of the share of this minute of the network, and of its site; false if none is
  /// left.
  func mayRegister(_ network: PeerNetwork, at second: UInt32) -> Bool {
    state.withLock { state in
      guard state.networks.mayRegister(network, at: second),
        network.site.map({ state.sites.mayRegister($0, at: second) }) ?? true
      else { return false }
      state.networks.consume(network)
      if let site = network.site { state.sites.consume(site) }
      return true
    }
  }

  /// Gives back what a registration took that was refused, as for an unknown app: such devices must not take
  /// the others' share. Only as many a minute as there are in it, since to look for an unknown app costs
  /// something, too; with `isFree` nobody looked.
  func returnRegistration(_ network: PeerNetwork, at second: UInt32, isFree: Bool = false) {
    state.withLock { state in
      state.networks.giveBack(network, at: second, isFree: isFree)
      if let site = network.site { state.sites.giveBack(site, at: second, isFree: isFree) }
    }
  }

  /// Forgets networks that have nothing open and a fresh share; called about once a minute.
  func sweep(at second: UInt32) {
    state.withLock { state in
      state.networks.sweep(at: second)
      state.sites.sweep(at: second)
    }
  }
}
