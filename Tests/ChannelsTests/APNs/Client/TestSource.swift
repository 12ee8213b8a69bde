import BorealisNet
import Channels
import HTTP
import Synchronization

typealias APNsDriverAddress = HTTP2Driver.Address

extension HTTP2Driver.Address {
  /// The address of a new driver of the loop.
  init(_ loop: EventLoop) { self = HTTP2Driver(loop: loop).address }
}

/// Looks again and again until something is true, or the test's time is over.
func eventually(_ condition: () -> Bool) async throws {
  while !condition() { try await Task.sleep(for: .milliseconds(5)) }
}

/// A queue of requests that repeats what was not sent, like the channel, and keeps all results.
final class TestSource: APNsSource {
  struct State {
    var queue: [APNsRequest] = []
    var results: [UInt64: [APNsResult]] = [:]
    var events: [HTTP2PoolEvent] = []
    var largestBatch = 0
    /// Requests by tag, to repeat them.
    var all: [UInt64: APNsRequest] = [:]
    weak var pool: APNsPool?
    var changes: [AsyncStream<Void>.Continuation] = []
  }

  private let state = Mutex(State())
  private let repeats: Bool

  init(repeats: Bool = true) { self.repeats = repeats }

  /// Starts a pool that takes from here.
  func start(on loop: ClientLoop, _ configuration: HTTP2PoolConfiguration) -> APNsPool {
    let pool = APNsPool(on: loop.address, configuration, source: self)
    state.withLock { $0.pool = pool }
    pool.setAuthorization(Array("bearer token".utf8))
    return pool
  }

  /// Queues requests whose payloads are their tags, and wakes the pool.
  func push(_ tags: Range<UInt64>, payload: Int = 0) {
    let pool = state.withLock { state in
      for tag in tags {
        var bytes = Array(String(tag).utf8)
        bytes += [UInt8](repeating: 32, count: max(0, payload - bytes.count))
        let request = APNsRequest(
          tag: tag, deviceToken: [UInt8](repeating: UInt8(truncatingIfNeeded: tag), count: 32),
          topic: "com.example.app", id: APNsID(high: 1, low: tag), payload: bytes)
        state.all[tag] = request
        state.queue.append(request)
      }
      return state.pool
    }
    pool?.wake()
  }

  func popRequests(upTo count: Int, areScarce: Bool) -> [APNsRequest] {
    state.withLock { state in
      state.largestBatch = max(state.largestBatch, count)
      let taken = Array(state.queue.prefix(count))
      state.queue.removeFirst(taken.count)
      return taken
    }
  }

  func answered(_ results: [APNsResultEntry]) {
    let pool = state.withLock { state in
      var hasMore = false
      for entry in results {
        state.results[entry.tag, default: []].append(entry.result)
        if repeats, entry.result.isFree, let request = state.all[entry.tag] {
          state.queue.append(request)
          hasMore = true
        }
      }
      for change in state.changes { change.yield() }
      return hasMore ? state.pool : nil
    }
    pool?.wake()
  }

  func noticed(_ event: HTTP2PoolEvent) {
    state.withLock { state in
      state.events.append(event)
      for change in state.changes { change.yield() }
    }
  }

  /// Waits until something is true of what has happened.
  func until(_ test: @Sendable (State) -> Bool) async {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    state.withLock { $0.changes.append(continuation) }
    continuation.yield()
    for await _ in stream where state.withLock({ test($0) }) { return }
  }

  /// Waits until so many requests have a result other than "not sent".
  func untilSettled(_ count: Int) async {
    await until { $0.results.values.count { $0.contains { !$0.isFree } } >= count }
  }

  var results: [UInt64: [APNsResult]] { state.withLock { $0.results } }
  var events: [HTTP2PoolEvent] { state.withLock { $0.events } }
  var largestBatch: Int { state.withLock { $0.largestBatch } }
  var queued: Int { state.withLock { $0.queue.count } }

  /// The reasons of failed connections.
  var failures: [String] {
    events.compactMap { if case .failed(let reason, _) = $0 { reason } else { nil } }
  }
}

extension APNsResult {
  /// Whether the request may be sent again.
  var isFree: Bool { self == .notSent || self == .refused }
}
