import BorealisBase
import CLinux
import Glibc

/// Connections of load balancers that send the PROXY protocol, until their header is complete; then their
/// owner gets them as the client's. Other peers' connections pass at once. Used on its loop only.
package final class ProxyEntrance: LoopDriver {
  /// Takes a socket, and the address of the client, if it has one.
  package typealias Next = (_ descriptor: Int32, _ client: IPAddress?) -> Void

  private struct Waiting {
    let descriptor: Int32
    let peer: IPAddress
    let deadline: UInt64
    let next: Next
    /// What has come of the header.
    var bytes: [UInt8] = []
  }

  /// How long a header may take, in nanoseconds.
  private static let patience: UInt64 = 5_000_000_000
  /// Connections that may wait on one loop.
  private static let most = 4096

  private unowned let loop: EventLoop
  private let networks: [IPNetwork]
  private let onFailure: () -> Void
  private var driver: UInt8 = 0
  /// By the slots of their tokens, which are given out once.
  private var waiting: [UInt32: Waiting] = [:]
  private var latest: UInt32 = 0
  private var buffer = [UInt8](repeating: 0, count: ProxyHeader.most)

  /// Joins a loop. Connections from `networks` must begin with a header; `onFailure` is called for each that
  /// does not.
  package init(loop: EventLoop, networks: [IPNetwork], onFailure: @escaping () -> Void) {
    self.loop = loop
    self.networks = networks
    self.onFailure = onFailure
    driver = loop.add(self)
  }

  /// Takes an accepted socket.
  package func accept(_ descriptor: Int32, _ next: @escaping Next) {
    let peer = IPAddress(peerOf: descriptor)
    guard let peer, networks.contains(where: { $0.contains(peer) }) else { return next(descriptor, peer) }
    latest &+= 1
    let token = ConnectionToken(driver: driver, generation: 0, slot: latest)
    guard waiting.count < Self.most, waiting[latest] == nil, loop.watch(descriptor, token, .readable) else {
      return loop.discard(descriptor)
    }
    waiting[latest] = Waiting(
      descriptor: descriptor, peer: peer, deadline: loop.now &+ Self.patience, next: next)
  }

  /// Reads of a connection what belongs to its header, and nothing of what follows, which may be TLS.
  package func ready(_ token: ConnectionToken, _ readiness: Readiness) {
    guard var one = waiting[token.slot] else { return }
    let seen = cl_peek(one.descriptor, &buffer, ProxyHeader.most)
    guard seen != -Int(EAGAIN), seen != -Int(EINTR) else { return }
    guard seen > 0 else { return fail(token.slot) }
    let before = one.bytes.count
    one.bytes += buffer[..<seen]
    let scan = ProxyHeader.scan(one.bytes)
    let end =
      switch scan {
      case .needMore: one.bytes.count
      case .header(let header): header.count
      case .invalid: 0
      }
    guard end > before, cl_read(one.descriptor, &buffer, end - before) == end - before else {
      return fail(token.slot)
    }
    if case .header(let header) = scan {
      waiting[token.slot] = nil
      loop.unwatch(one.descriptor)
      one.next(one.descriptor, header.source ?? one.peer)
    } else {
      waiting[token.slot] = one
    }
  }

  private func fail(_ slot: UInt32) {
    guard let one = waiting.removeValue(forKey: slot) else { return }
    onFailure()
    loop.close(one.descriptor)
  }

  /// It has no mail.
  package func drainMail() {}

  /// Closes what takes too long.
  package func tick() {
    let now = loop.now
    for slot in waiting.filter({ $0.value.deadline <= now }).keys { fail(slot) }
  }

  /// It has no work of its own.
  package func endTurn() -> Bool { false }
}
