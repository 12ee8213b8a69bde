import BorealisBase
import Core
import Synchronization

/// What other threads have for the thread of a link.
enum LinkItem: Sendable {
  /// Messages of a loop's connections for the home.
  case fromLoop([GatewayMessage])
  /// A message of a router for one loop of another node. `term` says during which leadership.
  case toLoop(HomeMessage, UInt16, term: UInt64)
  /// A message of a router for the loops of all other nodes.
  case toAll(HomeMessage, term: UInt64)
  /// A call waits until other nodes have confirmed a recall.
  case recallWait(RecallKey, term: UInt64, RecallWaits.Done)

  fileprivate var pushedApp: AppID? {
    switch self {
    case .fromLoop, .recallWait: nil
    case .toLoop(let message, _, _), .toAll(let message, _):
      switch message {
      case .push(let push, _, _) where !push.isLate: push.app
      case .broadcast(let push, _): push.app
      default: nil
      }
    }
  }
}

/// The way to the thread of a link: any thread adds and never waits. When it is full, pushes are dropped, and
/// the apps are remembered: their sessions catch up. Everything else is always taken; it is bounded where it
/// comes from.
final class LinkQueue: Sendable {
  private struct State {
    var items: [LinkItem] = []
    var pushes = 0
    var missed: Set<AppID> = []
    var isClosed = false
  }

  /// Pushes that wait at most.
  private let mostPushes: Int
  private let state = Mutex(State())
  private let work: Semaphore

  /// Empty; `work` is raised when there is something in it.
  init(work: Semaphore, mostPushes: Int = 65_536) {
    self.work = work
    self.mostPushes = mostPushes
  }

  /// Adds an item behind all others.
  func add(_ item: LinkItem) {
    let isFirst = state.withLock { state in
      guard !state.isClosed else { return false }
      let wasEmpty = state.items.isEmpty && state.missed.isEmpty
      if let app = item.pushedApp {
        guard state.pushes < mostPushes else {
          state.missed.insert(app)
          return wasEmpty
        }
        state.pushes += 1
      }
      state.items.append(item)
      return wasEmpty
    }
    if isFirst { work.signal() }
  }

  /// Removes and returns everything, and the apps of which pushes were dropped.
  func drain() -> (items: [LinkItem], missed: Set<AppID>) {
    state.withLock { state in
      defer { (state.items, state.pushes, state.missed) = ([], 0, []) }
      return (state.items, state.missed)
    }
  }

  /// Accepts nothing any more.
  func close() { state.withLock { $0 = State(isClosed: true) } }
}
