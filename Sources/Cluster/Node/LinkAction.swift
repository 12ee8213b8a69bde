import BorealisBase

/// What a home has for the links to gateways.
enum LinkAction: Sendable {
  case send(AppID, ClusterMessage, to: Incarnation)
  /// A push, as a part of its app's stream.
  case deliver(AppID, ClusterMessage, to: Incarnation)
  /// The stream of an app begins.
  case open(AppID, Incarnation)
  /// The gateway's sessions of an app are to catch up with everything up to a push.
  case replay(AppID, MessageID, to: Incarnation)
  /// The same for a gateway that has told sessions, and may be of the version that does not ask what they
  /// lack.
  case replayUnasked(AppID, MessageID, to: Incarnation)

  private var app: AppID {
    switch self {
    case .send(let app, _, _), .deliver(let app, _, _), .open(let app, _), .replay(let app, _, _),
      .replayUnasked(let app, _, _):
      app
    }
  }

  /// Does it, unless the app has another home.
  func perform(on node: inout ClusterNode, _ epochs: HomeEpochs, now: UInt64) {
    guard let epoch = epochs[app] else { return }
    switch self {
    case .send(let app, let message, let peer):
      node.send(ClusterEntry(app: app, epoch: epoch, message), to: peer, now: now)
    case .deliver(let app, let message, let peer): node.deliver(app, message, to: peer, now: now)
    case .open(let app, let peer): node.openStream(app, epoch: epoch, to: peer, after: MessageID(0))
    case .replay(let app, let newest, let peer):
      node.replay(app, to: peer, after: MessageID(0), [], through: newest, now: now)
    case .replayUnasked(let app, let newest, let peer):
      guard node.version(with: peer) ?? 0 < ClusterLimits.asksBehindSessions else { return }
      node.replay(app, to: peer, after: MessageID(0), [], through: newest, now: now)
    }
  }
}
