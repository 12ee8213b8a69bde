import BorealisBase
import BorealisNet
import BorealisProtocol
import Core
import Model

/// A connection that another process goes on with. The socket is open in the process that has this.
package struct PassedDevice: Sendable {
  /// The socket.
  package let descriptor: Int32
  /// The session: keys of TLS, what waits to be sent, and how far it is. Secret.
  package var session: [UInt8]

  /// Puts both together.
  package init(descriptor: Int32, session: [UInt8]) {
    self.descriptor = descriptor
    self.session = session
  }
}

/// Passes sessions on to another process, takes those of another one over, or goes on with its own under
/// another home (Docs/decisions/0116).
extension DeviceServer {
  /// The largest number of slices of broadcasts that are sent before the end.
  private static let lastSlices = 1000

  /// Bytes of keys, parts of records and frames, and of what else a session has, besides its queue.
  private static let roomForSession = 192 << 10

  /// Tells the homes what devices have said, and sends what has begun: then the loop rests.
  package func settle() {
    loop.assertIsOurs()
    var slices = 0
    while slices < Self.lastSlices, broadcasts.advance() { slices += 1 }
    sending.sendAcknowledgements()
    connections.sendToHome(.flushSoon)
  }

  // MARK: To another process

  private func isPassable(_ slot: UInt32) -> Bool {
    connections.slab[slot].core.isPassable && connections.slab[slot].connection.isPassable
  }

  /// What another process needs to go on with connections, for all for which that is possible. As long as
  /// it may do so nothing is sent here: the loop rests, and until `goOn` no mail is read.
  package func passed() -> [PassedDevice] {
    loop.assertIsOurs()
    // What homes have said in this turn belongs to the sessions that are passed on.
    drainMail()
    isFrozen = true
    var passed: [PassedDevice] = []
    passed.reserveCapacity(connections.slab.count)
    // For all, so that it never grows by leaving a copy of keys behind.
    var writer = ByteWriter(capacity: Self.roomForSession)
    for slot in 0..<UInt32(connections.slab.capacity) where isPassable(slot) {
      writer.bytes.reserveCapacity(Self.roomForSession + 2 * connections.slab[slot].connection.queue.cost)
      guard connections.slab[slot].connection.write(to: &writer) else { continue }
      let bound = connections.bound(slot)
      writer.write(bound?.app.rawValue ?? 0)
      writer.write(bound?.number.rawValue ?? 0)
      writer.write(connections.slab[slot].network.rawValue)
      connections.slab[slot].core.write(to: &writer, at: connections.second)
      // A copy of its own, of no more than that.
      let session = writer.bytes.withUnsafeBytes { Array($0) }
      passed.append(
        PassedDevice(descriptor: connections.slab[slot].connection.descriptor, session: session))
      writer.bytes.wipe()
      writer.bytes.removeAll(keepingCapacity: true)
    }
    return passed
  }

  /// Another process has what `passed` gave: the devices of all other connections are told to reconnect, at
  /// moments spread over so many milliseconds. Returns how many of them were logged in.
  package func dismissOthers(spread: UInt32) -> Int {
    loop.assertIsOurs()
    var dismissed = 0
    for slot in 0..<UInt32(connections.slab.capacity) where !isPassable(slot) {
      switch connections.slab[slot].core.phase {
      case .vacant, .closing: continue
      case .handshaking:
        connections.close(slot)
        continue
      case .loggedIn: dismissed += 1
      case .greeting, .greeted, .waiting: break
      }
      connections.goAway(slot, .drain, retryAfter: UInt32.random(in: 0...spread))
      _ = connections.flush(slot)
    }
    return dismissed
  }

  // MARK: From another process

  /// Nothing is sent, and no mail is read, until `goOn`: another process may still have the sessions that are
  /// adopted.
  package func freeze() {
    loop.assertIsOurs()
    isFrozen = true
  }

  /// Takes a connection over that another process has passed on, once `freeze` was called; false if what it
  /// says of it makes no sense, or the kernel does not watch it: the socket is closed here then, without a
  /// word. It is idle until `goOn`. `tls` is for those that speak TLS.
  package func adopt(_ device: PassedDevice, tls: TLSContext?) -> Bool {
    loop.assertIsOurs()
    assert(isFrozen, "what it sends may be sent twice")
    var reader = ByteReader(device.session)
    guard let connection = Connection(passed: device.descriptor, tls: tls, from: &reader),
      let app = reader.read(UInt32.self), let number = reader.read(UInt32.self),
      let network = reader.read(UInt64.self).map(PeerNetwork.init(rawValue:)),
      let core = DeviceSession(
        from: &reader, at: connections.deadline(after: 0), webSocketLimit: limits.webSocketMessage),
      reader.remaining == 0, (app > 0) == (core.phase == .loggedIn)
    else {
      loop.discard(device.descriptor)
      return false
    }
    var session = Session()
    (session.connection, session.core, session.network) = (connection, core, network)
    if core.phase != .loggedIn {
      // It was let in before.
      _ = peers.enter(network, at: connections.sharedSecond)
      session.marks = .unauthenticated
    }
    let slot = connections.insert(session)
    if core.phase == .loggedIn {
      connections.join(slot, AppID(app), RegistrationNumber(number))
    } else {
      noteUnauthenticated(slot)
    }
    guard connections.slab[slot].connection.watch(connections.connectionToken(slot), on: loop) else {
      // Its end in TLS would be a record, whose number the other process may use for another one.
      connections.slab[slot].connection.cut()
      connections.close(slot)
      return false
    }
    return true
  }

  /// Goes on with all sessions under a home that has not let them in: `bind` makes them known there and
  /// returns those that it does not know, whose devices log in again. What they have not been sent they ask
  /// for. Devices are heard when the loop looks at sockets again.
  package func goOn(under home: any AppHome, bind: ([ResumedSession]) -> [Location]) {
    loop.assertIsOurs()
    isFrozen = false
    connections.home = home
    broadcasts.forgetAll()
    let sessions = (0..<UInt32(connections.slab.capacity)).compactMap { slot in
      connections.bound(slot).map {
        ResumedSession(bound: $0, isForeground: connections.slab[slot].core.isForeground)
      }
    }
    for location in bind(sessions) {
      if let slot = connections.slot(location) { connections.goAway(slot, .drain) }
    }
    sending.abandoned(nil)
    for slot in 0..<UInt32(connections.slab.capacity) where connections.slab[slot].core.phase != .vacant {
      intake.noteUnfinished(slot)
      if connections.slab[slot].connection.hasUnread || !connections.slab[slot].connection.queue.isEmpty {
        connections.markDirty(slot)
      }
    }
    // What came meanwhile has woken the loop already, and nothing would wake it again.
    drainMail()
  }
}
