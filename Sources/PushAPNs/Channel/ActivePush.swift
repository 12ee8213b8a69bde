import PushBase
import PushDomain
import PushRouter
import PushStorage

/// The part of a push that goes to one kind of token.
struct PushLeg: Hashable, Sendable {
  let push: MessageID
  let kind: APNsTokenKind
}

/// A part of a push on its way to Apple, with what has become of it.
struct ActivePush: Sendable {
  let id: MessageID
  let notification: APNsNotification
  let strategy: Strategy
  let expires: Timestamp
  /// Who gets it.
  let targets: NumberSet
  /// Whether it is one to many, which has to make way for those to a few.
  let isLarge: Bool
  /// For how many nothing is final.
  private(set) var left: Int
  /// For whom it is.
  private(set) var answered: NumberSet
  /// Who is being looked up, ready, under way or waits for another try.
  var claimed = NumberSet()
  /// Who waits until the service of their token can be used again.
  var deferred = NumberSet()
  /// Where the search for those who were not claimed goes on.
  var position = RegistrationNumber(0)
  /// When each device gets it, nil for at once.
  let release: SteadyRelease?
  /// Devices with numbers from this on have to wait for their moment.
  private(set) var releasedBelow: UInt64
  /// Whether it stands in a queue to be looked up.
  var isQueued = false
  /// For whom an outcome stands: "delivered", Apple's reason, or one of `APNsEnd`.
  private(set) var results: [String: NumberSet] = [:]
  /// What of it is not saved.
  var news: [String: NumberSet] = [:]

  /// `results` are what an earlier run saved.
  init(
    _ push: APNsPush, notification: APNsNotification, targets: Recipients,
    results: [String: NumberSet] = [:], at now: Timestamp
  ) {
    self.results = results
    release = push.release
    releasedBelow = push.release?.bound(at: now) ?? .max
    id = push.id
    self.notification = notification
    strategy = push.push.strategy
    expires = push.expires
    self.targets = targets.numbers
    isLarge = if case .many = targets { true } else { false }
    var known = NumberSet()
    for answered in results.values { known.formUnion(answered) }
    known.formIntersection(self.targets)
    answered = known
    left = self.targets.count - known.count
  }

  var leg: PushLeg { PushLeg(push: id, kind: notification.slot.kind) }

  /// Claims at most so many who were not yet, ascending. Fewer mean that there are no more.
  mutating func claim(_ limit: Int) -> [RegistrationNumber] {
    var found: [RegistrationNumber] = []
    while found.count < limit {
      let members = targets.members(from: position, limit: limit)
      guard let last = members.last else { break }
      for number in members {
        guard UInt64(number.rawValue) < releasedBelow else { return found }
        position = RegistrationNumber(number.rawValue &+ 1)
        guard !answered.contains(number), !claimed.contains(number), !deferred.contains(number) else {
          continue
        }
        claimed.insert(number)
        found.append(number)
        if found.count == limit { break }
      }
      if members.count < limit || last.rawValue == .max { break }
    }
    return found
  }

  /// Lets go of those whose moment has come since the last call; false if there are none. A clock that is set back takes
  /// nothing back.
  mutating func advanceRelease(to now: Timestamp) -> Bool {
    guard releasedBelow != .max, let bound = release?.bound(at: now), bound > releasedBelow else {
      return false
    }
    releasedBelow = bound
    return true
  }

  /// Notes what became of it for one device.
  mutating func finish(_ number: RegistrationNumber, _ result: String) {
    claimed.remove(number)
    deferred.remove(number)
    guard targets.contains(number), !answered.contains(number) else { return }
    answered.insert(number)
    left -= 1
    results[result, default: NumberSet()].insert(number)
    news[result, default: NumberSet()].insert(number)
  }

  /// Its time is over: this is final for all who are left.
  mutating func finishAll(_ result: String) {
    guard left > 0 else { return }
    let rest = targets.subtracting(answered)
    results[result, default: NumberSet()].formUnion(rest)
    news[result, default: NumberSet()].formUnion(rest)
    answered = targets
    left = 0
  }
}

extension APNsAnswers {
  /// What is to be saved of some parts of a push now.
  init(_ id: MessageID, _ parts: [ActivePush], isFinal: Bool) {
    func byKind(_ outcomes: (ActivePush) -> [String: NumberSet]) -> APNsOutcomes {
      Dictionary(parts.map { ($0.leg.kind, outcomes($0)) }) { first, _ in first }
    }
    self.init(id: id, results: byKind(\.results), news: byKind(\.news), isFinal: isFinal)
  }
}

/// One device of a push, with all that a request needs.
struct Delivery: Sendable {
  let leg: PushLeg
  let slot: APNsTokenSlot
  let row: TokenRow
  /// The service that it goes to.
  var environment: APNsEnvironment
  /// Attempts that failed.
  var failures = 0
  /// The other service called the token bad.
  var otherHasRefused = false
  /// Attempts that Apple certainly did not process.
  var refusals = 0
  /// The provider token was renewed for it.
  var hasRenewedToken = false
}

/// A token with which Apple found a fault that could be ours.
struct SuspectToken: Sendable {
  let delivery: Delivery
  let fault: APNsTokenFault
}

/// The number that a request goes to a pool with: the app above, and below a count of the app's own requests.
struct RequestTag: Hashable, Sendable {
  private static let countBits: UInt64 = 40

  let rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  init(app: AppID, count: UInt64) {
    rawValue = UInt64(app.rawValue) << Self.countBits | count & (1 << Self.countBits - 1)
  }

  var app: AppID { AppID(UInt32(truncatingIfNeeded: rawValue >> Self.countBits)) }
}

/// A request that Apple has not answered.
struct Flight: Sendable {
  let delivery: Delivery
  let sentAt: Timestamp
  /// What it was sent with.
  let credential: APNsCredentialID
  /// The provider token that it carries, nil with a certificate.
  let token: ProviderToken?
}

/// First in, first out; what comes back goes to the front.
struct FIFO<Element: Sendable>: Sendable {
  private var items: [Element?] = []
  private var head = 0

  var count: Int { items.count - head }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ item: Element) { items.append(item) }

  mutating func putBack(_ item: Element) {
    if head == 0 {
      // Room for more: thousands come back when a host fails.
      head = max(16, items.count / 4)
      items.insert(contentsOf: repeatElement(nil, count: head), at: 0)
    }
    head -= 1
    items[head] = item
  }

  mutating func popFirst() -> Element? {
    guard head < items.count else { return nil }
    defer {
      items[head] = nil
      head += 1
      if head == items.count {
        items.removeAll(keepingCapacity: true)
        head = 0
      } else if head > 1024, head * 2 > items.count {
        items.removeFirst(head)
        head = 0
      }
    }
    return items[head]
  }

  mutating func removeAll() -> [Element] {
    defer {
      items = []
      head = 0
    }
    return items[head...].compactMap { $0 }
  }
}
