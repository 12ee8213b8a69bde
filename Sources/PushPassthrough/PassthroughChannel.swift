import PushBase
import PushNet
import PushRouter

/// A session as its loop names it.
struct SessionToken: Sendable {
  let slot: UInt32
  let generation: UInt32
}

/// The connections of devices as homes reach them: passes messages on to the loops that own the connections.
public final class PassthroughChannel: DeviceGateway {
  let mailboxes: [Mailbox<HomeMessage>]

  /// Makes the channel over the process' loops, in the order of their indexes. A loop takes so many pushes at a time; beyond that
  /// its devices catch up from those that are kept.
  public init(loops: [LoopHandle], capacity: Int = 1 << 16) {
    mailboxes = loops.map { Mailbox(of: $0, capacity: capacity) }
  }

  /// Passes a message on to one loop, if there is one of this index.
  public func send(_ message: HomeMessage, to loop: UInt16) {
    guard Int(loop) < mailboxes.count else { return }
    Self.put(message, into: mailboxes[Int(loop)])
  }

  /// Passes a message on to all loops.
  public func sendToAll(_ message: HomeMessage) {
    for mailbox in mailboxes { Self.put(message, into: mailbox) }
  }

  /// Pushes are only offered: what a full mailbox refuses is caught up with. One that comes out of turn cannot be; how many
  /// of those there are is bounded where they are held back.
  private static func put(_ message: HomeMessage, into mailbox: Mailbox<HomeMessage>) {
    switch message {
    case .push(let push, _, _) where !push.isLate: mailbox.offer(message)
    case .broadcast: mailbox.offer(message)
    default: mailbox.post(message)
    }
  }
}
