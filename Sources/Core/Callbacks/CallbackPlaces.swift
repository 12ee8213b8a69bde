import BorealisBase
import Storage

/// Where a batch is sent, and whose request that is.
struct CallbackTarget: Sendable {
  /// Whose batch it is.
  var sender: CallbackSender
  /// Scheme, host and port; empty for the app's own address.
  var origin: String
  /// Scheme, host and port of the address, also of the app's own; empty if there is none.
  var host: String

  /// The destination of the app.
  var destination: CallbackDestination { CallbackDestination(app: sender.app, origin: origin) }
}

/// Concurrent requests of callbacks, counted by account, app and host.
///
/// Each leaves room for others: an account takes up to three quarters of what other accounts leave, an app
/// only while it has less than half as many as its account could still take, and the last eighth is for apps
/// without any. So some apps whose receivers are slow cannot take all places, however many receivers they
/// name: Docs/decisions/0069.
struct CallbackPlaces: Sendable {
  private struct Pool: Sendable {
    let count: Int
    var taken = 0
    var accounts: [AccountID?: Int] = [:]
    var apps: [AppID: Int] = [:]

    init(count: Int) { self.count = count }

    func used(by app: AppID) -> Int { apps[app, default: 0] }

    /// How many more places an account can take: it then has three times as many as are free.
    func room(for account: AccountID?) -> Int {
      max(0, 3 * (count - taken) - accounts[account, default: 0] + 3) / 4
    }

    func hasRoom(for sender: CallbackSender) -> Bool {
      let (room, own) = (room(for: sender.account), used(by: sender.app))
      return own == 0 ? room > 0 : 2 * own < room - count / 8
    }

    mutating func add(_ number: Int, of sender: CallbackSender) {
      taken += number
      CallbackPlaces.add(number, to: &accounts, sender.account)
      CallbackPlaces.add(number, to: &apps, sender.app)
    }
  }

  private let limits: DestinationLimiter.Limits
  private var all: Pool
  /// Those of requests to failing destinations, which are among all.
  private var probes: Pool
  private var hosts: [String: Int] = [:]

  init(_ limits: DestinationLimiter.Limits) {
    self.limits = limits
    all = Pool(count: limits.all)
    probes = Pool(count: limits.probes)
  }

  /// Places that are taken.
  var taken: Int { all.taken }

  /// Whether none is free.
  var isFull: Bool { all.taken >= limits.all }

  /// Whether none is free for any app of an account; with `isProbe`, none for a request to a failing
  /// destination.
  func isFull(for account: AccountID?, isProbe: Bool = false) -> Bool {
    all.room(for: account) == 0 || isProbe && probes.room(for: account) == 0
  }

  /// Whether none is free for a host.
  func isFull(host: String) -> Bool { hosts[host, default: 0] >= limits.host }

  /// Whether a request of an app may start; with `isProbe`, one to a failing destination.
  func hasRoom(for sender: CallbackSender, isProbe: Bool = false) -> Bool {
    all.used(by: sender.app) < limits.app && all.hasRoom(for: sender)
      && (!isProbe || probes.hasRoom(for: sender))
  }

  /// Reserves a place if there is one; returns whether there is.
  mutating func reserve(_ target: CallbackTarget, isProbe: Bool) -> Bool {
    guard hasRoom(for: target.sender, isProbe: isProbe), !isFull(host: target.host) else { return false }
    all.add(1, of: target.sender)
    if isProbe { probes.add(1, of: target.sender) }
    Self.add(1, to: &hosts, target.host)
    return true
  }

  /// Counts a request as one to a failing destination no longer.
  mutating func endProbe(_ target: CallbackTarget) { probes.add(-1, of: target.sender) }

  /// Gives a place back.
  mutating func giveBack(_ target: CallbackTarget) {
    all.add(-1, of: target.sender)
    Self.add(-1, to: &hosts, target.host)
  }

  private static func add<Key: Hashable>(_ number: Int, to counts: inout [Key: Int], _ key: Key) {
    let count = counts[key, default: 0] + number
    counts[key] = count > 0 ? count : nil
  }
}
