import PushBase
import PushDomain
import PushStorage
import Synchronization

/// Contents of recent pushes, so that a device which reconnects shortly after does not cost a read. First in, first out,
/// bounded in bytes.
final class ContentCache: Sendable {
  private struct State: Sendable {
    var contents: [MessageID: StoredPush] = [:]
    var order: [MessageID] = []
    var head = 0
    var bytes = 0
  }

  private let byteLimit: Int
  private let state = Mutex(State())

  init(byteLimit: Int) { self.byteLimit = byteLimit }

  func find(_ id: MessageID) -> StoredPush? { state.withLock { $0.contents[id] } }

  /// Adds a push, or puts it in the place of what was known of it.
  func insert(_ id: MessageID, _ push: StoredPush) {
    state.withLock { state in
      state.bytes += Self.size(push)
      if let old = state.contents.updateValue(push, forKey: id) {
        state.bytes -= Self.size(old)
        return
      }
      state.order.append(id)
      while state.bytes > byteLimit, state.head < state.order.count {
        if let old = state.contents.removeValue(forKey: state.order[state.head]) {
          state.bytes -= Self.size(old)
        }
        state.head += 1
      }
      if state.head > 4096, state.head * 2 > state.order.count {
        state.order.removeFirst(state.head)
        state.head = 0
      }
    }
  }

  /// Two hundred bytes stand for the table entry and the arrays' headers.
  private static func size(_ push: StoredPush) -> Int {
    let shared = push.content.variants.reduce(200) { $0 + $1.notification.count + $1.message.count }
    // At most about two bytes for each member of a set.
    return push.content.apple.reduce(shared + 2 * (push.apns?.count ?? 0)) {
      $0 + 200 + $1.payload.text.count
    }
  }
}

extension Router {
  /// The contents of pushes that wait for a device, in the order asked; those that are gone are left out. `found` may be
  /// called on this thread or on a reader's.
  public func contents(
    of ids: [MessageID],
    found: @escaping @Sendable (Result<[(MessageID, StoredPush)], DeviceFailure>) -> Void
  ) {
    let known = ids.map { ($0, contents.find($0)) }
    let missing = known.filter { $0.1 == nil }.map(\.0)
    guard !missing.isEmpty else {
      found(.success(known.compactMap { id, content in content.map { (id, $0) } }))
      return
    }
    store.read { transaction throws(StorageError) in
      try transaction.contents(of: missing)
    } completion: { [self] result in
      guard case .success(let stored) = result else {
        found(.failure(.unavailable))
        return
      }
      var read: [MessageID: StoredPush] = [:]
      for case (let id, let found?) in zip(missing, stored) {
        guard let content = StoredPush(found) else { continue }
        // After a restart many devices ask for the same one.
        contents.insert(id, content)
        read[id] = content
      }
      found(.success(known.compactMap { id, content in (content ?? read[id]).map { (id, $0) } }))
    }
  }
}
