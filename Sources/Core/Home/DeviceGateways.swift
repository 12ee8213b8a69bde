import BorealisBase
import Model
import Storage
import Synchronization

/// What has the connections of devices.
final class DeviceGateways: Sendable {
  private let plugged = Mutex<[any DeviceGateway]>([])
  /// Held while recalls and pushes that were held back are passed on, so that none of these goes behind its
  /// recall.
  private let lateOrder = Mutex(())

  func add(_ gateway: any DeviceGateway) { plugged.withLock { $0.append(gateway) } }

  func removeAll() { plugged.withLock { $0 = [] } }

  private var all: [any DeviceGateway] { plugged.withLock { $0 } }

  // MARK: Pushes

  /// Sends a push to devices that are connected, to each in its language.
  func send(_ push: LivePush, of app: App, to devices: [DispatchPlan.Reachable]) {
    guard push.isLate else {
      for device in devices { send(push, to: device) }
      return
    }
    // Not in commit order: it may have been recalled in the meantime.
    lateOrder.withLock { _ in
      for device in devices where app.directory.isWaiting(push.id, for: device.number) {
        send(push, to: device)
      }
    }
  }

  private func send(_ push: LivePush, to device: DispatchPlan.Reachable) {
    let own = push.push.languages == nil ? push : push.with(push.push.inLanguage(of: device.number))
    send(.push(own, device.number, device.location), to: device.location)
  }

  /// Has devices remove a recalled push.
  func recall(_ id: MessageID, of app: App, audience: NumberSet) {
    lateOrder.withLock { _ in sendToAll(.recall(id, app.id, audience: audience)) }
  }

  // MARK: Connections

  /// Ends a connection.
  func disconnect(_ location: Location, _ reason: EndReason) {
    send(.endSession(location, reason), to: location)
  }

  /// Ends the connections of all devices of an app.
  func disconnectAll(_ app: App, _ reason: EndReason = .appDisabled) {
    app.directory.online.forEachSlice(of: 1000) { numbers in
      for location in app.directory.locations(of: numbers) { disconnect(location, reason) }
    }
  }

  // MARK: Messages

  /// Passes a message on to the loop of a connection.
  func send(_ message: HomeMessage, to location: Location) {
    for gateway in all { gateway.send(message, to: location.loop) }
  }

  /// Passes a message on to all loops.
  func sendToAll(_ message: HomeMessage) { for gateway in all { gateway.sendToAll(message) } }

  /// Waits until all nodes have confirmed a recall, one after the other and in bounded time; `done` gets the
  /// number of those that have not.
  func confirmRecall(_ id: MessageID, of app: App, done: @escaping @Sendable (Int) -> Void) {
    confirmRecall(id, of: app.id, by: all[...], unconfirmed: 0, done)
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
  func reportStored(_ stored: [StoredAcknowledgements]) {
    for (loop, stored) in Dictionary(grouping: stored, by: \.location.loop) {
      for gateway in all { gateway.send(.stored(stored), to: loop) }
    }
  }
}
