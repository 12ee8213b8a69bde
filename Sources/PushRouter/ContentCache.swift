import PushBase
import PushDomain
import Synchronization

/// Contents of recent pushes, so that a device which reconnects shortly after does not cost a read. First in, first out,
/// bounded in bytes.
final class ContentCache: Sendable {
  private struct State: Sendable {
    var contents: [MessageID: PushContent] = [:]
    var order: [MessageID] = []
    var head = 0
    var bytes = 0
  }

  private let byteLimit: Int
  private let state = Mutex(State())

  init(byteLimit: Int) { self.byteLimit = byteLimit }

  func find(_ id: MessageID) -> PushContent? { state.withLock { $0.contents[id] } }

  func insert(_ id: MessageID, _ content: PushContent) {
    state.withLock { state in
      guard state.contents.updateValue(content, forKey: id) == nil else { return }
      state.order.append(id)
      state.bytes += Self.size(content)
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
  private static func size(_ content: PushContent) -> Int {
    let shared = content.variants.reduce(200) { $0 + $1.notification.count + $1.message.count }
    return content.apple.reduce(shared) { $0 + 200 + $1.payload.text.count }
  }
}
