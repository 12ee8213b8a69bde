import BorealisBase
import PushTesting
import Testing

@testable import Storage

/// Reads that take long, of several apps.
@Suite(.timeLimit(.minutes(1))) struct ReadTurnTests {
  private let folder = TemporaryFolder()
  private let one = AppID(1)
  private let other = AppID(2)
  private let order = Journal<String>()
  private let done = Semaphore()

  private func read(_ name: String, of app: AppID, in store: Store) {
    store.read(inTurnOf: app) { _ in
    } completion: { [order, done] result in
      if case .failure(let error) = result { order.add("\(error.kind)") } else { order.add(name) }
      done.signal()
    }
  }

  /// Starts a long read that ends with the signal.
  private func hold(_ app: AppID, in store: Store) -> Semaphore {
    let (begun, end) = (Semaphore(), Semaphore())
    store.read(inTurnOf: app) { _ in
      begun.signal()
      end.wait()
    } completion: { [order, done] _ in
      order.add("held")
      done.signal()
    }
    begun.wait()
    return end
  }

  @Test func `Apps take turns, and short reads wait for none of them`() throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let end = hold(one, in: store)
    for name in ["one", "one again"] { read(name, of: one, in: store) }
    read("other", of: other, in: store)
    try store.wait { [order] _ in order.add("short") }
    #expect(order.all == ["short"])
    end.signal()
    for _ in 0..<4 { done.wait() }
    #expect(order.all == ["short", "held", "other", "one", "one again"])
  }

  @Test func `Of an app only so many wait`() throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let end = hold(one, in: store)
    for _ in 0..<256 { read("one", of: one, in: store) }
    #expect(order.all == ["overloaded"], "with the one under way that is one too many")
    read("other", of: other, in: store)
    end.signal()
    for _ in 0..<258 { done.wait() }
    #expect(order.all.prefix(3) == ["overloaded", "held", "other"])
  }

  @Test func `What has many items lets others have their turn between them`() throws {
    let clock = ManualClock()
    var options = Store.Options()
    options.time = clock
    let store = try Store.testing(folder, options: options)
    defer { store.close() }
    let found = try Store.wait { done in
      store.read(inTurnOf: one, each: [1, 2, 3, 4], upTo: 2) { [other, order] _, item in
        order.add("\(item)")
        guard item == 1 else { return item * 10 }
        read("other", of: other, in: store)
        clock.advance(seconds: 1)
        return nil
      } completion: {
        done($0)
      }
    }
    #expect(found == [20, 30])
    #expect(order.all == ["1", "other", "2", "3"])
  }
}
