import BorealisBase
import Model
import Storage

/// The direct connection as a channel: a push waits in its app's directory until the device acknowledges it,
/// and is sent over the device's connection while there is one.
final class Passthrough: Channel {
  let info = ChannelInfo.passthrough
  private let contents: ContentCache
  private let writeBehind: WriteBehind
  private let gateways: DeviceGateways

  init(contents: ContentCache, writeBehind: WriteBehind, gateways: DeviceGateways) {
    self.contents = contents
    self.writeBehind = writeBehind
    self.gateways = gateways
  }

  func deliver(_ push: ChannelPush) {
    let (app, id) = (push.app, push.id)
    contents.insert(id, push.push, encoded: push.content)
    let live = LivePush(app: app.id, id: id, push: push.push, expires: push.expires)
    let expires = push.expires.secondsRoundedUp
    if let pacing = push.pacing {
      let paced = PacedPush(pacing: pacing, push: push.push)
      let group = FanOutPush(id: id, expires: expires, targets: push.targets.numbers, paced: paced)
      let dispatch = app.directory.open(id, .many(group), held: push.held)
      writeBehind.note(dispatch.change, of: app, at: push.acceptedAt)
      return
    }
    switch push.targets {
    case .few(let numbers):
      let opened = OpenedPush.few(numbers, expires: expires, isToOne: push.isToOne)
      let dispatch = app.directory.open(id, opened, held: push.held)
      writeBehind.note(dispatch.change, of: app, at: push.acceptedAt)
      gateways.send(live, of: app, to: dispatch.reachable)
    case .many(let targets):
      let group = FanOutPush(id: id, expires: expires, targets: targets)
      let dispatch = app.directory.open(id, .many(group), held: push.held)
      writeBehind.note(dispatch.change, of: app, at: push.acceptedAt)
      let targets = push.held.map { targets.subtracting($0) } ?? targets
      if !targets.isEmpty { gateways.sendToAll(.broadcast(live, targets: targets)) }
    }
  }

  func withdraw(_ id: MessageID, of app: App, _ status: OutcomeStatus, at now: Timestamp) -> Int {
    let (waiting, progress) = app.directory.withdraw(id)
    // Something may have been acknowledged since the sets were stored.
    if let progress { writeBehind.end([EndedPush(id, status, progress: progress)], of: app, at: now) }
    return waiting
  }

  func recall(_ id: MessageID, of app: App, audience: NumberSet) {
    gateways.recall(id, of: app, audience: audience)
  }

  func forget(_ app: App) { gateways.sendToAll(.forget(app.id)) }
}
