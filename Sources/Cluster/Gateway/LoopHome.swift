import BorealisBase
import Core
import Synchronization

/// The homes of apps as one loop sees them: this process, for the apps that it is the home of; else other
/// nodes, which are reached over the bus and answer by mail.
final class LoopHome: AppHome {
  private struct Local {
    let home: LocalHome
    let apps: OwnApps
  }

  private let queue: LinkQueue
  /// Set while this process is a home. Only its loop and a change of homes take this lock.
  private let local = Mutex<Local?>(nil)

  /// Nobody is home yet.
  init(_ queue: LinkQueue) { self.queue = queue }

  /// Handles messages of the loop's connections.
  func handle(_ messages: [GatewayMessage], answers: inout [HomeMessage]) {
    let others = local.withLock { local in
      guard let local else { return messages }
      let (own, others) = local.apps.divide(messages)
      if !own.isEmpty { local.home.handle(own, answers: &answers) }
      return others
    }
    guard !others.isEmpty else { return }
    for case .acknowledgements(_, let batch) in others {
      // Kept from now on; they are settled when a home has stored them.
      let taken = batch.senders.compactMap { sender in
        sender.location.map {
          ReceivedAcknowledgements(location: $0, count: sender.count, awaited: sender.count)
        }
      }
      answers.append(.acknowledgementsReceived(taken))
    }
    queue.add(.fromLoop(others))
  }

  /// Changes what this process is the home of. `before` runs while the loop can say nothing.
  func change(to home: LocalHome?, of apps: OwnApps = .all, before: () -> Void = {}) {
    local.withLock { local in
      before()
      local = home.map { Local(home: $0, apps: apps) }
    }
  }
}

/// The apps that this process is the home of.
struct OwnApps: Sendable {
  /// Nil for all.
  private var keys: [AppID: AppKey]?
  private var ids: [AppKey: AppID] = [:]

  /// All apps.
  static let all = OwnApps(keys: nil)
  /// None, to which some are added.
  static let none = OwnApps(keys: [:])

  private init(keys: [AppID: AppKey]?) { self.keys = keys }

  /// Adds an app.
  mutating func insert(_ app: AppID, _ key: AppKey) {
    keys?[app] = key
    ids[key] = app
  }

  /// Removes an app.
  mutating func remove(_ app: AppID) {
    if let key = keys?.removeValue(forKey: app) { ids[key] = nil }
  }

  /// Divides messages into those about these apps and those about others. A device that names its app by a
  /// key which is not among these is one of another app.
  func divide(_ messages: [GatewayMessage]) -> (own: [GatewayMessage], others: [GatewayMessage]) {
    guard let keys else { return (messages, []) }
    return messages.divided { place in
      switch place {
      case .key(let key): ids[key] != nil
      case .app(let app): keys[app] != nil
      case .session(let session): keys[session.app] != nil
      case .all: nil
      }
    }
  }
}

/// What a message names its app by.
enum AppReference {
  case key(AppKey)
  case app(AppID)
  case session(BoundSession)
  /// It is for the homes of all apps.
  case all
}

extension GatewayMessage {
  var app: AppReference {
    switch self {
    case .login(let login): .key(login.app)
    case .register(let device): .key(device.app)
    case .acknowledgements(let app, _): .app(app)
    case .flushSoon, .withdraw: .all
    case .close(let session, _), .state(let session, _, _), .receipts(let session, _),
      .operation(let session, _, _, _), .pull(let session, _, _), .recount(let session, _):
      .session(session)
    }
  }
}

extension [GatewayMessage] {
  /// The messages about apps for which `isOwn` is true, and those for which it is false; where it is nil both
  /// get the message.
  func divided(_ isOwn: (AppReference) -> Bool?) -> (own: [GatewayMessage], others: [GatewayMessage]) {
    var (own, others): ([GatewayMessage], [GatewayMessage]) = ([], [])
    for message in self {
      let place = isOwn(message.app)
      if place != false { own.append(message) }
      if place != true { others.append(message) }
    }
    return (own, others)
  }
}
