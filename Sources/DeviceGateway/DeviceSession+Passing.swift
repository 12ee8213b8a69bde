import BorealisBase
import BorealisProtocol
import HTTP
import Model

/// For another process, which goes on with the session.
extension DeviceSession {
  /// Whether another process can go on with it: it waits for nothing of this one, and the device is not in
  /// the middle of a WebSocket message. Sessions of this kind are plain ones between two answers. Browsers
  /// reconnect.
  var isPassable: Bool {
    guard !isLeaving, !isAutopush else { return false }
    switch phase {
    case .greeting, .greeted, .loggedIn: break
    case .vacant, .handshaking, .waiting, .closing: return false
    }
    guard let webSocket = extras?.webSocket else { return true }
    return !webSocket.reader.isUnderWay && !webSocket.isBroken && !webSocket.hasSentClose
      && !webSocket.isClosed
  }

  /// Writes what another process needs, if it can go on with the session; `second` is the present one. What
  /// is acknowledged counts as stored: it is by the time when somebody reads this.
  func write(to writer: inout ByteWriter, at second: UInt32) {
    writer.write(phase.rawValue)
    let marks: [Bool] = [isForeground, isWebSocket, extras != nil]
    writer.write(marks.enumerated().reduce(UInt8(0)) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) })
    writer.write(version)
    writer.write(platform)
    writer.write(heartbeat)
    writer.write(deadline > second ? deadline &- second : 0)
    writer.write(sentThrough.rawValue)
    writer.write(newestWhileAway.rawValue)
    writer.write(unsettled - min(unsettled, unstored))
    extras?.write(to: &writer, at: second)
  }

  /// Reads what `write` wrote; nil if it is something else. `limit` is that of a WebSocket message.
  init?(from reader: inout ByteReader, at second: UInt32, webSocketLimit limit: Int) {
    self.init()
    guard let phase = reader.read(UInt8.self).flatMap(Phase.init(rawValue:)),
      [.greeting, .greeted, .loggedIn].contains(phase),
      let marks = reader.read(UInt8.self), marks < 8, let version = reader.read(UInt8.self),
      version <= WireLimits.versions.upperBound, let platform = reader.read(UInt8.self),
      platform == 0 || Platform(rawValue: platform) != nil, let heartbeat = reader.read(UInt16.self),
      let time = reader.read(UInt32.self), let sent = reader.read(UInt64.self),
      let newest = reader.read(UInt64.self), let unsettled = reader.read(UInt16.self)
    else { return nil }
    (self.phase, self.version, self.platform, self.heartbeat) = (phase, version, platform, heartbeat)
    (sentThrough, newestWhileAway) = (MessageID(sent), MessageID(newest))
    self.unsettled = unsettled
    // No deadline lies further away than that of a heartbeat.
    deadline = second &+ min(time, UInt32(clamping: WireLimits.heartbeatDeadline(interval: .max)))
    isForeground = marks & 1 != 0
    if marks & 4 != 0 {
      guard let extras = SessionExtras(from: &reader, at: second) else { return nil }
      self.extras = extras
    }
    if marks & 2 != 0 { startWebSocket(limit: limit) }
    shrink()
  }
}
