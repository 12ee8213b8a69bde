import BorealisBase
import Core
import Model
import Storage
import Synchronization

/// A delivery of a push to one device, with all that a request needs.
package struct Delivery: Sendable {
  let key: LegKey
  /// Which of the device's tokens it goes to.
  package let slot: TokenSlot
  /// The token and what belongs to it, read before this try.
  package internal(set) var row: TokenRow
  /// When the row was read.
  var readAt: ReadMoment
  /// The service of the request.
  package var service: ServiceID
  /// Attempts that failed.
  package internal(set) var failures = 0
  /// Whether it is stored that its only attempt is being made.
  var isArmed = false
  /// Whether the other service rejected the token.
  package var otherHasRefused = false
  /// How often the connection failed before the service processed it.
  package var refusals = 0
  /// The most devices that a request for it reaches: the service refused it together with others, and did not
  /// say which is bad.
  package var mostTogether = Int.max
  /// Whether the service's last answer about it refused the authorization, and which.
  fileprivate var hasRenewedAuthorization = false
  fileprivate var refusedAuthorization: (any AnyObject & Sendable)?

  init(key: LegKey, slot: TokenSlot, row: TokenRow, readAt: ReadMoment, service: ServiceID) {
    self.key = key
    self.slot = slot
    self.row = row
    self.readAt = readAt
    self.service = service
  }

  /// Whether what was read for it is to be read again.
  func isOutdated(_ changes: TokenChanges, _ badges: BadgeOrder, _ part: QueuedPart) -> Bool {
    changes.hasChanged(row.number, since: readAt.tokens)
      || part.badge != .unchanged && badges.isOutdated(row.number, readAt: readAt.badges)
  }

  /// The same with what was read again.
  func read(again row: TokenRow, at moment: ReadMoment, _ badges: BadgeOrder, _ part: QueuedPart) -> Delivery
  {
    var new = self
    (new.row, new.readAt) = (row, moment)
    // Its own number, unless the device has been sent a newer one since.
    if !badges.isOutdated(row.number, readAt: readAt.badges) {
      (new.row.badge, new.readAt.badges) = (self.row.badge, readAt.badges)
    }
    if row.token != self.row.token || row.service != self.row.service {
      new.service = part.service(for: row)
      new.otherHasRefused = false
    }
    return new
  }

  /// The token that it goes to, with the service that it goes to.
  package var token: PushToken { PushToken(slot, service, row.token) }

  /// The service that the device named for its token; where it named none, the one that is asked.
  package var home: ServiceID {
    row.service == .none ? service : row.service
  }
}

/// When what belongs to a device was read.
struct ReadMoment: Sendable {
  /// The version of `TokenChanges` before that.
  let tokens: UInt64
  /// The moment of `BadgeOrder` at which the number for the icon was the stored one.
  var badges: UInt64
}

/// A delivery to send now.
package struct Outgoing: Sendable {
  /// The number that the result carries.
  package let tag: RequestTag
  /// The device.
  package let delivery: Delivery
  /// The push and its expiration.
  package let push: MessageID, expires: Timestamp
  /// Its content: `QueuedPart.content`.
  package let content: any AnyObject & Sendable
  package let target: any ServiceTarget
}

/// The number of a request: the app in the upper bits, a counter in the lower ones. Dispatchers that several
/// apps share find the queue of an answer by the app, and that may be another one by then: no two requests of
/// a process have the same number.
package struct RequestTag: Hashable, Sendable {
  private static let countBits: UInt64 = 40

  /// The number.
  package let rawValue: UInt64

  /// Wraps a number.
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Makes a number with 40 bits of the counter.
  package init(app: AppID, count: UInt64) {
    rawValue = UInt64(app.rawValue) << Self.countBits | count & (1 << Self.countBits - 1)
  }

  package var app: AppID { AppID(UInt32(truncatingIfNeeded: rawValue >> Self.countBits)) }
}

/// A request without a response yet.
struct InFlightRequest: Sendable {
  let delivery: Delivery
  let sentAt: Timestamp
  /// Its target, also after its service has got another one.
  let target: any ServiceTarget
  /// The authorization that it was sent with, such as a provider token; nil if requests have none.
  let authorization: (any AnyObject & Sendable)?
}

/// A request with its result.
package struct CompletedRequest: Sendable {
  /// The delivery. The channel may change where and how it is retried.
  package var delivery: Delivery
  /// When the request was sent.
  package let sentAt: Timestamp
  package let target: any ServiceTarget
  package let authorization: (any AnyObject & Sendable)?
  /// Whether the service has accepted the same token in a later request.
  package let hasWorkedSince: Bool
  /// Whether it must not be sent again: it is sent at most once, or was recalled in the meantime.
  package let isLastTry: Bool
  /// The services that the app has a target for.
  package let services: Set<ServiceID>
}

extension CompletedRequest {
  /// Whether another authorization was refused just before.
  package var hasRenewedAuthorization: Bool {
    delivery.hasRenewedAuthorization
      && (authorization == nil || authorization !== delivery.refusedAuthorization)
  }

  /// Notes whether this answer refuses the authorization: only refusals of two in succession say something
  /// about the credential.
  package mutating func noteAuthorization(isRefused: Bool) {
    delivery.hasRenewedAuthorization = isRefused
    delivery.refusedAuthorization = isRefused ? authorization : nil
  }
}

/// The verdict about a request with its result.
package enum DeliveryVerdict: Sendable, Equatable {
  /// Final: one of `ChannelEnd`, or a reason of the service.
  case ended(String)
  /// The service will never accept it, for this reason. The direct connection carries it, if the strategy
  /// allows that; if the token has been given up, another channel that reaches the device comes first.
  case refused(String, isTokenGone: Bool = false)
  /// It is retried with back-off, but not before this many seconds; if the push ends before, it expires.
  case retry(RetrySchedule, notBefore: Int64 = 0)
  /// It is retried after this many seconds, which does not count as a failure.
  case wait(seconds: Int64)
  /// It is sent again immediately.
  case resend
  /// It was not sent, and is sent again in its order.
  case unsent
}

/// The requests of an app that are in flight.
struct InFlightRequests: Sendable {
  /// The requests in flight to one registration.
  private struct Registration: Sendable {
    var count = 0
    /// A token that the service has accepted, and when that request was sent.
    var taken: (token: [UInt8], sentAt: Timestamp)?
  }

  private var all: [RequestTag: InFlightRequest] = [:]
  private var registrations: [RegistrationNumber: Registration] = [:]
  /// Counts the requests of all queues.
  private static let numbers = Atomic<UInt64>(0)

  var count: Int { all.count }
  var isEmpty: Bool { all.isEmpty }

  /// Records that a request is sent; returns its number.
  mutating func begin(_ flight: InFlightRequest, of app: AppID) -> RequestTag {
    let tag = RequestTag(app: app, count: Self.numbers.add(1, ordering: .relaxed).newValue)
    all[tag] = flight
    registrations[flight.delivery.row.number, default: Registration()].count += 1
    return tag
  }

  /// Removes a request that has its result; returns whether the service has accepted the same token in a
  /// later request.
  mutating func complete(_ tag: RequestTag, isAccepted: Bool) -> (
    flight: InFlightRequest, hasWorkedSince: Bool
  )? {
    guard let flight = all.removeValue(forKey: tag) else { return nil }
    let row = flight.delivery.row
    guard var others = registrations[row.number] else { return (flight, false) }
    others.count -= 1
    let hasWorkedSince = others.taken.map { $0.token == row.token && $0.sentAt >= flight.sentAt } ?? false
    if isAccepted, others.taken.map({ $0.sentAt <= flight.sentAt }) ?? true {
      others.taken = (row.token, flight.sentAt)
    }
    registrations[row.number] = others.count > 0 ? others : nil
    return (flight, hasWorkedSince)
  }

  /// Whether a part of a push is in a request for a registration.
  func contains(_ leg: LegKey, _ number: RegistrationNumber) -> Bool {
    // Few registrations have requests, so all are rarely looked through.
    registrations[number] != nil
      && all.values.contains { $0.delivery.row.number == number && $0.delivery.key == leg }
  }

  /// The registrations with requests in flight, by leg.
  func numbers(of push: MessageID) -> [UInt8: NumberSet] {
    var found: [UInt8: [RegistrationNumber]] = [:]
    for flight in all.values where flight.delivery.key.push == push {
      found[flight.delivery.key.leg, default: []].append(flight.delivery.row.number)
    }
    return found.mapValues { NumberSet($0) }
  }

  /// The requests in flight to registrations, by target.
  func requests(to numbers: [RegistrationNumber]) -> [(target: any ServiceTarget, tags: [UInt64])] {
    let wanted = Set(numbers.filter { registrations[$0] != nil })
    guard !wanted.isEmpty else { return [] }
    var found: [ObjectIdentifier: (target: any ServiceTarget, tags: [UInt64])] = [:]
    for (tag, flight) in all where wanted.contains(flight.delivery.row.number) {
      found[ObjectIdentifier(flight.target), default: (flight.target, [])].tags.append(tag.rawValue)
    }
    return Array(found.values)
  }
}
