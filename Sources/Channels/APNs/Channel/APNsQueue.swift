import BorealisBase
import Core
import Model
import Storage

/// An app's requests to APNs: turns the queue's deliveries into requests, evaluates the responses, and
/// applies the consequences for tokens and credentials. Safe to use from any thread.
final class APNsQueue: Sendable {
  /// The target of requests to an APNs environment.
  final class Target: ServiceTarget {
    let dispatcher: APNsDispatcher
    let credential: APNsCredential

    init(_ dispatcher: APNsDispatcher, _ credential: APNsCredential) {
      (self.dispatcher, self.credential) = (dispatcher, credential)
    }

    func accepts(_ slot: TokenSlot) -> Bool { slot.apnsKind.map { credential.accepts($0) } ?? false }
    func wake() { dispatcher.wake() }
    func recall(_ tags: [UInt64]) { dispatcher.recall(tags) }
  }

  /// The provider token that a request carries.
  final class Authorization: Sendable {
    let token: ProviderToken

    init(_ token: ProviderToken) { self.token = token }
  }

  /// The app's pushes that have to be sent.
  let queue: ChannelQueue
  let parts: APNsParts
  var app: App { queue.app }

  init(app: App, parts: APNsParts) {
    self.parts = parts
    queue = ChannelQueue(
      of: .apns, app: app, store: parts.store, deliveries: parts.router.deliveries, time: parts.time,
      log: parts.log, triedOnce: Set(APNsTokenKind.allCases.filter(\.isTriedOnce).map(\.rawValue))
    ) { $0.notifications }
  }

  /// Sets the target of an environment's requests; nil with `isStopped` when they have to wait, nil without
  /// it when there is no credential.
  func set(_ target: Target?, isStopped: Bool, for environment: APNsEnvironment) {
    if let target { queue.tokens.use(String(target.credential.id.rawValue), of: environment.service) }
    queue.set(target, isStopped: isStopped, for: environment.service)
  }

  func target(for environment: APNsEnvironment) -> Target? {
    queue.target(of: environment.service) as? Target
  }

  /// Call once a second.
  func tick() { queue.tick() }

  // MARK: Requests

  /// Removes at most this many requests for one environment, to be sent now.
  func popRequests(_ environment: APNsEnvironment, upTo count: Int, token: Authorization?) -> [APNsRequest] {
    queue.popOutgoing(environment.service, upTo: count, authorization: token).compactMap { outgoing in
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
  /// The content and targets: a part for each kind of token.
  var notifications: [QueuedPart] {
    push.content.apple.compactMap { notification in
      let (slot, leg) = (notification.slot, notification.slot.kind.leg.number)
      guard let targets = targets(leg: leg) else { return nil }
      return QueuedPart(
        leg: leg, targets: targets, slot: slot.slot, service: notification.wish.service,
        badge: notification.badge, isTriedOnce: slot.kind.isTriedOnce,
        // The direct connection can carry everything but VoIP pushes and Live Activities.
        fallsBack: slot.kind == .device
          && Routing.fallsBackToOwn(push.strategy, on: .ios, push.content.parts(for: .ios)),
        lifetime: notification.isBrief ? APNsNotification.briefSeconds : nil,
        collapse: notification.collapse.given,
        content: queued(APNsContent(notification)) { other in
          other.push.content.apple.first { $0.slot == notification.slot }.map { APNsContent($0) }
        })
    }
  }
}

extension APNsNotification {
  /// Makes the request for one device.
  fileprivate func request(for outgoing: Outgoing, topic: String) -> APNsRequest {
    var payload: [UInt8] = []
    payload.reserveCapacity(self.payload.maximumBytes)
    let badge =
      switch self.badge {
      case .unchanged: Int64(0)
      // The database's number was changed when the device was looked up.
      case .set, .add: outgoing.delivery.row.badge
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
