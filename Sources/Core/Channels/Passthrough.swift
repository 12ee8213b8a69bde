import BorealisBase
import Model
import Storage
import Synchronization

/// The direct connection as a channel: a push waits in its app's directory until the device acknowledges it,
/// and is sent over the device's connection while there is one.
final class Passthrough: Channel {
  let info = ChannelInfo.passthrough
  private let contents: ContentCache
  private let writeBehind: WriteBehind
  private let gateways: DeviceGateways
  /// Held while recalls and pushes that were held back are passed on, so that none of these goes behind its
  /// recall.
  private let lateOrder = Mutex(())

  init(contents: ContentCache, writeBehind: WriteBehind, gateways: DeviceGateways) {
    self.contents = contents
    self.writeBehind = writeBehind
    self.gateways = gateways
  }

  func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] { [] }

  func deliver(_ push: ChannelPush) {
    let (app, id) = (push.app, push.id)
    contents.insert(
      id, push.content, push.push.strategy, elsewhere: push.push.elsewhere, fallback: push.push.fallback)
    let live = LivePush(app: app.id, id: id, push: push.push, expires: push.expires)
    let expires = push.expires.secondsRoundedUp
    if let pacing = push.pacing {
      let paced = PacedPush(pacing: pacing, push: push.push)
      let group = FanOutPush(id: id, expires: expires, targets: push.targets.numbers, paced: paced)
      writeBehind.note(app.directory.open(id, .many(group)).change, of: app, at: push.acceptedAt)
      return
    }
    switch push.targets {
    case .few(let numbers):
      let opened = OpenedPush.few(numbers, expires: expires, isToOne: push.isToOne)
      let dispatch = app.directory.open(id, opened)
      writeBehind.note(dispatch.change, of: app, at: push.acceptedAt)
      send(live, of: app, to: dispatch.reachable)
    case .many(let targets):
      let group = FanOutPush(id: id, expires: expires, targets: targets)
      writeBehind.note(app.directory.open(id, .many(group)).change, of: app, at: push.acceptedAt)
      gateways.sendToAll(.broadcast(live, targets: targets))
    }
  }

  func withdraw(_ id: MessageID, of app: App, _ status: OutcomeStatus, at now: Timestamp) -> Int {
    let (waiting, progress) = app.directory.withdraw(id)
    // Something may have been acknowledged since the sets were stored.
    if let progress { writeBehind.end([EndedPush(id, status, progress: progress)], of: app, at: now) }
    return waiting
  }

  func recall(_ id: MessageID, of app: App, audience: NumberSet) {
    lateOrder.withLock { _ in gateways.sendToAll(.recall(id, app.id, audience: audience)) }
  }

  /// Waits until all nodes have confirmed a recall, in bounded time; `done` gets the number of those that
  /// have not.
  func confirmRecall(_ id: MessageID, of app: App, done: @escaping @Sendable (Int) -> Void) {
    gateways.confirmRecall(id, of: app.id, done: done)
  }

  func forget(_ app: App) { gateways.sendToAll(.forget(app.id)) }

  /// The connections are ended, or kept for the next home, by who hands the app over.
  func release(_ app: App) {}

  // MARK: Connections

  /// Sends a push to devices that are connected.
  func send(_ push: LivePush, of app: App, to devices: [DispatchPlan.Reachable]) {
    guard push.isLate else {
      for device in devices {
        gateways.send(.push(push, device.number, device.location), to: device.location)
      }
      return
    }
    // Not in commit order: it may have been recalled in the meantime.
    lateOrder.withLock { _ in
      for device in devices where app.directory.isWaiting(push.id, for: device.number) {
        gateways.send(.push(push, device.number, device.location), to: device.location)
      }
    }
  }

  /// Ends a connection.
  func disconnect(_ location: Location, _ reason: EndReason) {
    gateways.send(.endSession(location, reason), to: location)
  }

  /// Ends the connections of all devices of an app.
  func disconnectAll(_ app: App, _ reason: EndReason = .appDisabled) {
    let online = app.directory.online
    var next = RegistrationNumber(0)
    while true {
      let numbers = online.members(from: next, limit: 1000)
      for location in app.directory.locations(of: numbers) { disconnect(location, reason) }
      guard numbers.count == 1000, let last = numbers.last, last.rawValue < .max else { return }
      next = RegistrationNumber(last.rawValue + 1)
    }
  }
}

/// What has the connections of devices.
final class DeviceGateways: Sendable {
  private let plugged = Mutex<[any DeviceGateway]>([])

  func add(_ gateway: any DeviceGateway) { plugged.withLock { $0.append(gateway) } }

  func removeAll() { plugged.withLock { $0 = [] } }

  private var all: [any DeviceGateway] { plugged.withLock { $0 } }

  /// Passes a message on to the loop of a connection.
  func send(_ message: HomeMessage, to location: Location) {
    for gateway in all { gateway.send(message, to: location.loop) }
  }

  /// Passes a message on to all loops.
  func sendToAll(_ message: HomeMessage) { for gateway in all { gateway.sendToAll(message) } }

  /// Waits for one after the other to confirm a recall.
  func confirmRecall(_ id: MessageID, of app: AppID, done: @escaping @Sendable (Int) -> Void) {
    confirmRecall(id, of: app, by: all[...], unconfirmed: 0, done)
  }

  private func confirmRecall(
    _ id: MessageID, of app: AppID, by left: ArraySlice<any DeviceGateway>, unconfirmed: Int,
    _ done: @escaping @Sendable (Int) -> Void
  ) {
    guard let next = left.first else { return done(unconfirmed) }
    next.confirmRecall(id, of: app) { [self] count in
      confirmRecall(id, of: app, by: left.dropFirst(), unconfirmed: unconfirmed + count, done)
    }
  }

  /// Notifies connections that their acknowledgements are stored.
  func tell(_ stored: [StoredAcknowledgements]) {
    for (loop, stored) in Dictionary(grouping: stored, by: \.location.loop) {
      for gateway in all { gateway.send(.stored(stored), to: loop) }
    }
  }
}
