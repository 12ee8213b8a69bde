import PushBase
import PushChannels
import PushDomain
import PushRouter
import PushStorage
import Synchronization

/// An app's requests to Apple: fills the queue's deliveries in, judges Apple's answers to them, and draws the consequences for
/// tokens and credentials. Safe to use from any thread.
final class APNsQueue: Sendable {
  /// Where requests to one of Apple's services go.
  final class Target: ServiceTarget {
    let dispatcher: APNsDispatcher
    let credential: APNsCredential

    init(_ dispatcher: APNsDispatcher, _ credential: APNsCredential) {
      (self.dispatcher, self.credential) = (dispatcher, credential)
    }

    func takes(_ slot: TokenSlot?) -> Bool { slot?.apnsKind.map { credential.takes($0) } ?? false }
    func wake() { dispatcher.wake() }
    func recall(_ tags: [UInt64]) { dispatcher.recall(tags) }
  }

  /// The provider token that a request carries.
  final class Authorization: Sendable {
    let token: ProviderToken

    init(_ token: ProviderToken) { self.token = token }
  }

  /// What of the app's pushes has to be sent.
  let queue: ChannelQueue
  let parts: APNsParts
  var app: App { queue.app }
  /// By the service that tokens are registered for. Locked after the queue.
  let guards = Mutex<[APNsEnvironment: TokenGuard<FaultyToken>]>([:])

  init(app: App, parts: APNsParts) {
    self.parts = parts
    queue = ChannelQueue(
      of: .apns, app: app, store: parts.store, deliveries: parts.router.deliveries, time: parts.time,
      log: parts.log, triedOnce: Set(APNsTokenKind.allCases.filter(\.isTriedOnce).map(\.rawValue))
    ) { $0.notifications }
  }

  /// Sets where an environment's requests go; nil with `isStopped` when they have to wait, nil without when there is no
  /// credential.
  func set(_ target: Target?, isStopped: Bool, for environment: APNsEnvironment) {
    if target != nil { guards.withLock { $0[environment] = nil } }
    queue.set(target, isStopped: isStopped, for: environment.service)
  }

  func target(for environment: APNsEnvironment) -> Target? {
    queue.target(of: environment.service) as? Target
  }

  /// The work of once a second.
  func tick() {
    let now = parts.time.monotonic()
    let suspects = guards.withLock { guards in
      var confirmed: [FaultyToken] = []
      for environment in guards.keys { confirmed += guards[environment]?.confirmed(at: now) ?? [] }
      return confirmed
    }
    for suspect in suspects { retire(suspect) }
    queue.tick()
  }

  // MARK: Requests

  /// At most so many requests for one service, to be sent now.
  func take(_ environment: APNsEnvironment, upTo count: Int, token: Authorization?) -> [APNsRequest] {
    queue.take(environment.service, upTo: count, authorization: token).compactMap { outgoing in
      guard let content = outgoing.content as? APNsContent, let target = outgoing.target as? Target else {
        return nil
      }
      return content.notification.request(for: outgoing, topic: target.credential.topic)
    }
  }
}

/// What the queue holds of a push to Apple.
final class APNsContent: Sendable {
  let notification: APNsNotification

  init(_ notification: APNsNotification) { self.notification = notification }
}

extension ChannelPush {
  /// What Apple gets, and who: a part for each kind of token.
  var notifications: [QueuedPart] {
    push.content.apple.compactMap { notification in
      let (slot, leg) = (notification.slot, notification.slot.kind.leg.number)
      guard let targets = targets(leg: leg) else { return nil }
      return QueuedPart(
        leg: leg, targets: targets, slot: slot.slot, service: notification.wish.service,
        badge: notification.badge, isTriedOnce: slot.kind.isTriedOnce,
        // Our connection can bring all but calls and Live Activities.
        canFallBack: slot.kind == .device,
        lifetime: notification.isBrief ? APNsNotification.briefSeconds : nil,
        content: APNsContent(notification))
    }
  }
}

/// A token with which Apple found a fault.
struct FaultyToken: Sendable, Hashable {
  let number: RegistrationNumber
  let token: PushToken
  let fault: APNsTokenFault
  /// What the device has told after this counts more.
  let since: Timestamp
  /// When the request left that was refused.
  let refusedAt: Timestamp

  /// Nil for a delivery without a token.
  init?(_ delivery: Delivery, _ fault: APNsTokenFault, since: Timestamp, refusedAt: Timestamp) {
    guard let token = delivery.token else { return nil }
    (number, self.token) = (delivery.row.number, token)
    (self.fault, self.since, self.refusedAt) = (fault, since, refusedAt)
  }

  /// The same token, whatever is said of it.
  static func == (left: Self, right: Self) -> Bool {
    left.number == right.number && left.token.slot == right.token.slot
      && left.token.bytes == right.token.bytes
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(number)
    hasher.combine(token.bytes)
  }
}

extension APNsNotification {
  /// The request that it is for one device.
  fileprivate func request(for outgoing: Outgoing, topic: String) -> APNsRequest {
    var payload: [UInt8] = []
    payload.reserveCapacity(self.payload.maximumBytes)
    let badge =
      switch self.badge {
      case .unchanged: Int64(0)
      case .set(let number): Int64(number)
      // The database's number was changed when the device was looked up.
      case .add: outgoing.delivery.row.badge
      }
    render(messageID: outgoing.push, badge: badge, into: &payload)
    let suffix = type.topicSuffix
    return APNsRequest(
      tag: outgoing.tag.rawValue, deviceToken: outgoing.delivery.row.token,
      topic: suffix.isEmpty ? topic : topic + suffix,
      type: type, priority: priority,
      expiration: expiration(of: outgoing.expires), collapseID: collapseID(of: outgoing.push) ?? [],
      id: APNsID(
        high: outgoing.push.rawValue,
        low: UInt64(outgoing.tag.app.rawValue) << 32 | UInt64(outgoing.delivery.row.number.rawValue)),
      payload: payload
    )
  }
}
