import BorealisBase
import BorealisNet
import Core

/// The location of a session on its loop.
struct SessionToken: Sendable {
  let slot: UInt32
  let generation: UInt32
}

/// The device connections for homes: passes messages on to the loops that own the connections.
package final class PassthroughChannel: DeviceGateway {
  let mailboxes: [Mailbox<HomeMessage>]

  /// Makes the channel over the process's loops, in the order of their indexes. A loop's mailbox takes this
  /// many pushes; above that its devices catch up from the stored pushes.
  package init(loops: [LoopHandle], capacity: Int = 1 << 16) {
    mailboxes = loops.map { Mailbox(of: $0, capacity: capacity) }
  }

  /// Passes a message on to one loop, if there is one of this index.
  package func send(_ message: HomeMessage, to loop: UInt16) {
    guard Int(loop) < mailboxes.count else { return }
    Self.put(message, into: mailboxes[Int(loop)])
  }

  /// Passes a message on to all loops.
  package func sendToAll(_ message: HomeMessage) {
    for mailbox in mailboxes { Self.put(message, into: mailbox) }
  }

  /// Pushes are only offered: devices catch up with those that a full mailbox refuses. Pushes out of order
  /// are always posted; their number is bounded where they are held back.
  private static func put(_ message: HomeMessage, into mailbox: Mailbox<HomeMessage>) {
    switch message {
    case .push(let push, _, _) where !push.isLate: mailbox.offer(message)
    case .broadcast: mailbox.offer(message)
    default: mailbox.post(message)
    }
  }
}
