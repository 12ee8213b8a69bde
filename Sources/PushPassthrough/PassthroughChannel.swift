import PushBase
import PushDomain
import PushNet
import PushRouter
import PushWire

/// What other threads tell the device sessions of one loop.
enum DeviceMail: Sendable {
  case deliver(LivePush, Location)
  case group(LivePush, GroupPush)
  case recall(MessageID, App, audience: NumberSet)
  case disconnect(Location, DisconnectReason)
  case forget(AppID)
  case acknowledgementsStored([StoredAcknowledgements])
  /// Contents for a session that catches up; all that waits up to `through` was read, or nothing could be.
  case contents(SessionToken, Result<[(MessageID, StoredPush)], DeviceFailure>, through: MessageID)
  /// An encoded answer to an operation.
  case answer(SessionToken, [UInt8])
  /// The answer to a registration; nil if it could not be stored.
  case registered(SessionToken, ServerFrame?)
  /// The app of a login or registration was looked for.
  case resolved(SessionToken, ClientFrame, Result<App?, DeviceFailure>)
}

/// A session as others name it.
struct SessionToken: Sendable {
  let slot: UInt32
  let generation: UInt32
}

/// Our own long connection as a channel of the router: passes work on to the loops that own the connections.
public final class PassthroughChannel: DeliveryChannel {
  let mailboxes: [Mailbox<DeviceMail>]

  /// Makes the channel over the process' loops, in the order of their indexes.
  public init(loops: [LoopHandle]) { mailboxes = loops.map { Mailbox(of: $0) } }

  /// Passes a push to the loop that owns the device's connection.
  public func deliver(_ push: LivePush, to number: RegistrationNumber, at location: Location) {
    post(.deliver(push, location), to: location)
  }

  /// Passes a push to all loops.
  public func deliver(_ push: LivePush, group: GroupPush) {
    for mailbox in mailboxes { mailbox.post(.group(push, group)) }
  }

  /// Passes a recall to all loops.
  public func recall(_ id: MessageID, app: App, audience: NumberSet) {
    for mailbox in mailboxes { mailbox.post(.recall(id, app, audience: audience)) }
  }

  /// Passes the news to the loops of the connections.
  public func acknowledgementsStored(_ stored: [StoredAcknowledgements]) {
    for (loop, stored) in Dictionary(grouping: stored, by: \.location.loop) where Int(loop) < mailboxes.count
    {
      mailboxes[Int(loop)].post(.acknowledgementsStored(stored))
    }
  }

  /// Ends a connection.
  public func disconnect(_ location: Location, _ reason: DisconnectReason) {
    post(.disconnect(location, reason), to: location)
  }

  /// Passes the end of an app to all loops.
  public func forget(_ app: AppID) {
    for mailbox in mailboxes { mailbox.post(.forget(app)) }
  }

  private func post(_ mail: DeviceMail, to location: Location) {
    guard Int(location.loop) < mailboxes.count else { return }
    mailboxes[Int(location.loop)].post(mail)
  }
}
