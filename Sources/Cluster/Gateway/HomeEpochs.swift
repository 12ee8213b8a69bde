import BorealisBase

/// What a node is the home of, and since which epoch: of everything since one; or of some apps since one
/// each.
struct HomeEpochs: Sendable {
  private let ofAll: Epoch?
  private var epochs: [AppID: Epoch] = [:]

  /// The home of all apps since an epoch; with nil the home of no app at first.
  init(ofAll: Epoch?) { self.ofAll = ofAll }

  /// Whether it is the home of some apps, beside others.
  var isDivided: Bool { ofAll == nil }

  /// Since when it is the home of an app, with `.none` of what belongs to none; nil if it is not.
  subscript(app: AppID) -> Epoch? { ofAll ?? epochs[app] }

  /// What it asks gateways about: devices of all apps, or of each of its own.
  var questions: [AppID] {
    ofAll == nil ? epochs.keys.filter { $0 != .none }.sorted { $0.rawValue < $1.rawValue } : [.none]
  }

  /// It is the home of an app, or of what belongs to none.
  mutating func begin(_ app: AppID, _ epoch: Epoch) { epochs[app] = epoch }

  /// It is the home of an app no more.
  mutating func end(_ app: AppID) { epochs[app] = nil }

  /// The apps, if they are some.
  var apps: Set<AppID> { Set(epochs.keys) }
}

/// How long things take at a home.
enum HomeTiming {
  /// Nanoseconds from one HOME to a gateway to the next.
  static let notice: UInt64 = 2_000_000_000
  /// Nanoseconds without a part of the answer after which a gateway is asked for its sessions again.
  static let ask: UInt64 = 1_000_000_000
  /// Nanoseconds after which a session that its gateway does not name is none.
  static let bind: UInt64 = 10_000_000_000
  /// Buckets of an app that are compared one by one at a time.
  static let mostCompared = 8
}
