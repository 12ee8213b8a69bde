import PushBase
import PushDomain
import PushRouter
import PushStorage

/// One device of a push, with all that a request needs.
public struct Delivery: Sendable {
  let key: LegKey
  /// Which of the device's tokens it goes to.
  public let slot: TokenSlot?
  /// The token and what belongs to it, read before this try.
  public internal(set) var row: TokenRow
  /// The moment by `TokenChanges` at which the row was read.
  var readAt: UInt64
  /// The service that it goes to.
  public var service: ServiceID
  /// Attempts that failed.
  public internal(set) var failures = 0
  /// Whether it is stored that its only try is being made.
  var isArmed = false
  /// The other service called the token bad.
  public var otherHasRefused = false
  /// How often the connection refused it before the service had read it.
  public var refusals = 0
  /// The authorization was renewed for it.
  public var hasRenewedAuthorization = false

  init(key: LegKey, slot: TokenSlot?, row: TokenRow, readAt: UInt64, service: ServiceID) {
    self.key = key
    self.slot = slot
    self.row = row
    self.readAt = readAt
    self.service = service
  }

  /// The token that it goes to, with the service that it goes to; nil for a channel that needs no tokens.
  public var token: PushToken? { slot.map { PushToken($0, service, row.token) } }

  /// The service that the device named for its token; where it named none, the one that is asked.
  public var home: ServiceID {
    row.service == .none ? service : row.service
  }
}

/// A delivery that leaves now.
public struct Outgoing: Sendable {
  /// What names it in the answer.
  public let tag: RequestTag
  /// The device.
  public let delivery: Delivery
  /// The push, and when it ends.
  public let push: MessageID, expires: Timestamp
  /// What it is made of: `QueuedPart.content`.
  public let content: any AnyObject & Sendable
  /// Where it goes.
  public let target: any ServiceTarget
}

/// The number of a request: the app above, and below a count of the app's own requests.
public struct RequestTag: Hashable, Sendable {
  private static let countBits: UInt64 = 40

  /// The number.
  public let rawValue: UInt64

  /// Wraps a number.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Puts a number together; of the count 40 bits stand in it.
  public init(app: AppID, count: UInt64) {
    rawValue = UInt64(app.rawValue) << Self.countBits | count & (1 << Self.countBits - 1)
  }

  /// The app.
  public var app: AppID { AppID(UInt32(truncatingIfNeeded: rawValue >> Self.countBits)) }
}

/// A request that the service has not answered.
struct Flight: Sendable {
  let delivery: Delivery
  let sentAt: Timestamp
  /// Where it went, also after its service has got another target.
  let target: any ServiceTarget
  /// What proved who sends it, such as a provider token; nil where that is no part of a request.
  let authorization: (any AnyObject & Sendable)?
}

/// A request that has its result.
public struct Landed: Sendable {
  /// The device. The channel may change where and how it is tried again.
  public var delivery: Delivery
  /// When the request left.
  public let sentAt: Timestamp
  /// Where it went.
  public let target: any ServiceTarget
  /// What it was authorized with.
  public let authorization: (any AnyObject & Sendable)?
  /// Whether the service has taken the same token from a later request.
  public let hasWorkedSince: Bool
  /// Whether it must not be sent again: it is sent at most once, or was taken back meanwhile.
  public let isLastTry: Bool
  /// The services that the app has a target for.
  public let services: Set<ServiceID>
}

/// What becomes of a request that has its result.
public enum DeliveryVerdict: Sendable, Equatable {
  /// This is final: one of `ChannelEnd`, or a reason of the service.
  case ended(String)
  /// The service will never take it, for this reason. The direct connection brings it, if the strategy wants that.
  case refused(String)
  /// It is tried again by a schedule, and not before so many seconds; when the push ends before, it expires.
  case retry(RetrySchedule, notBefore: Int64 = 0)
  /// It is tried again after so many seconds, which does not count as a failure.
  case wait(seconds: Int64)
  /// It is sent again at once.
  case resend
  /// It never left, and is sent again in its order.
  case unsent
}

/// The requests of an app that its services have not answered.
struct Flights: Sendable {
  /// The requests to one registration.
  private struct Underway: Sendable {
    var count = 0
    /// A token that the service has taken meanwhile, and when the request with it left.
    var taken: (token: [UInt8], sentAt: Timestamp)?
  }

  private var all: [RequestTag: Flight] = [:]
  private var underway: [RegistrationNumber: Underway] = [:]
  private var last: UInt64 = 0

  var count: Int { all.count }
  var isEmpty: Bool { all.isEmpty }

  /// Notes that a request leaves; gives its number.
  mutating func begin(_ flight: Flight, of app: AppID) -> RequestTag {
    last &+= 1
    let tag = RequestTag(app: app, count: last)
    all[tag] = flight
    underway[flight.delivery.row.number, default: Underway()].count += 1
    return tag
  }

  /// Takes a request that has its result; tells whether the service has taken the same token from a later request.
  mutating func land(_ tag: RequestTag, isTaken: Bool) -> (flight: Flight, hasWorkedSince: Bool)? {
    guard let flight = all.removeValue(forKey: tag) else { return nil }
    let row = flight.delivery.row
    guard var others = underway[row.number] else { return (flight, false) }
    others.count -= 1
    let hasWorkedSince = others.taken.map { $0.token == row.token && $0.sentAt >= flight.sentAt } ?? false
    if isTaken, others.taken.map({ $0.sentAt <= flight.sentAt }) ?? true {
      others.taken = (row.token, flight.sentAt)
    }
    underway[row.number] = others.count > 0 ? others : nil
    return (flight, hasWorkedSince)
  }

  /// Who is being asked for, by leg.
  func numbers(of push: MessageID) -> [UInt8: NumberSet] {
    var found: [UInt8: [RegistrationNumber]] = [:]
    for flight in all.values where flight.delivery.key.push == push {
      found[flight.delivery.key.leg, default: []].append(flight.delivery.row.number)
    }
    return found.mapValues { NumberSet($0) }
  }

  /// The requests to registrations, by where they went.
  func requests(to numbers: [RegistrationNumber]) -> [(target: any ServiceTarget, tags: [UInt64])] {
    let wanted = Set(numbers.filter { underway[$0] != nil })
    guard !wanted.isEmpty else { return [] }
    var found: [ObjectIdentifier: (target: any ServiceTarget, tags: [UInt64])] = [:]
    for (tag, flight) in all where wanted.contains(flight.delivery.row.number) {
      found[ObjectIdentifier(flight.target), default: (flight.target, [])].tags.append(tag.rawValue)
    }
    return Array(found.values)
  }
}
