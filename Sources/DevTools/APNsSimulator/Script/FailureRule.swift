/// One rule of a script: the pushes that it applies to, and its action.
struct FailureRule: Sendable, Equatable {
  /// The pushes that a rule applies to.
  enum Scope: Sendable, Hashable {
    case everything
    case token(SimulatedDeviceToken)
    case connection(UInt64)
    /// Each connection, counted on its own.
    case eachConnection
  }

  var scope = Scope.everything
  /// Skips this many first.
  var after = 0
  /// Applies to every n-th of the others.
  var every = 1
  /// How often it acts; nil forever.
  var times: Int?
  /// Milliseconds before the answer.
  var delay = 0
  var action = FailureAction.delay
}

/// The rules in force. Only pushes that are accepted otherwise are looked at.
struct FailureScript: Sendable {
  private struct Count: Sendable {
    var seen = 0
    var used = 0
  }

  private struct Entry: Sendable {
    let number: Int
    let rule: FailureRule
    /// By connection for `eachConnection`, else under 0.
    var counts: [UInt64: Count] = [:]
  }

  private var entries: [Entry] = []
  private var nextNumber = 1

  init() {}

  var isEmpty: Bool { entries.isEmpty }

  /// The rules with their numbers and how often each has acted.
  var rules: [(number: Int, rule: FailureRule, used: Int)] {
    entries.map { ($0.number, $0.rule, $0.counts.values.reduce(0) { $0 + $1.used }) }
  }

  /// Adds a rule behind the others and returns its number.
  mutating func add(_ rule: FailureRule) -> Int {
    entries.append(Entry(number: nextNumber, rule: rule))
    nextNumber += 1
    return nextNumber - 1
  }

  /// Drops all rules.
  mutating func removeAll() { entries = [] }

  /// Drops what was counted for a connection that is gone.
  mutating func forget(connection: UInt64) {
    for index in entries.indices { entries[index].counts[connection] = nil }
  }

  /// Counts a push with every rule that applies to it, and returns the first one that acts.
  mutating func match(token: SimulatedDeviceToken?, connection: UInt64) -> FailureRule? {
    var acting: FailureRule?
    for index in entries.indices {
      let rule = entries[index].rule
      var key: UInt64 = 0
      switch rule.scope {
      case .everything: break
      case .token(let wanted): if wanted != token { continue }
      case .connection(let wanted): if wanted != connection { continue }
      case .eachConnection: key = connection
      }
      var count = entries[index].counts[key] ?? Count()
      count.seen += 1
      let position = count.seen - rule.after
      let isTurn = position > 0 && position % max(1, rule.every) == 0
      if acting == nil, isTurn, rule.times.map({ count.used < $0 }) ?? true {
        count.used += 1
        acting = rule
      }
      entries[index].counts[key] = count
    }
    return acting
  }
}
