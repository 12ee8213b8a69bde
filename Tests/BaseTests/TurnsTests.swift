import BorealisBase
import Synchronization
import Testing

@Suite struct TurnsTests {
  private final class Record: Sendable {
    let begun = Mutex<[String]>([])
    let ends = Mutex<[String: @Sendable () -> Void]>([:])
  }

  private let turns = Turns<Int>()
  private let record = Record()

  private func run(_ name: String, of owner: Int, alone: Bool = true, waiting limit: Int = 3) -> Bool {
    turns.run(for: owner, alone: alone, waiting: limit) { [record] done in
      record.begun.withLock { $0.append(name) }
      if alone { record.ends.withLock { $0[name] = done } } else { done() }
    }
  }

  private func end(_ name: String) { record.ends.withLock { $0.removeValue(forKey: name) }?() }

  private var order: [String] { record.begun.withLock { $0 } }

  @Test func `Each owner has one piece under way`() {
    #expect(run("a1", of: 1) && run("a2", of: 1) && run("b1", of: 2) && run("a3", of: 1))
    #expect(order == ["a1", "b1"])
    end("a1")
    #expect(order == ["a1", "b1", "a2"])
    end("b1")
    end("a2")
    end("a3")
    #expect(order == ["a1", "b1", "a2", "a3"])
    #expect(run("a4", of: 1))
    #expect(order.last == "a4", "nothing is under way any more")
  }

  @Test func `What need not be alone keeps its place`() {
    #expect(run("light", of: 1, alone: false) && run("heavy", of: 1))
    #expect(run("behind", of: 1, alone: false) && run("last", of: 1))
    #expect(order == ["light", "heavy"])
    end("heavy")
    #expect(order == ["light", "heavy", "behind", "last"])
  }

  @Test func `Only so many wait`() {
    #expect(run("1", of: 1) && run("2", of: 1, waiting: 2) && run("3", of: 1, waiting: 2))
    #expect(!run("4", of: 1, waiting: 2))
    end("1")
    #expect(run("5", of: 1, waiting: 2))
    for name in ["2", "3", "5"] { end(name) }
    #expect(order == ["1", "2", "3", "5"])
  }

  @Test func `What need not be alone does not take the places of what must be`() {
    #expect(run("1", of: 1) && run("2", of: 1, waiting: 1) && run("light", of: 1, alone: false, waiting: 1))
    #expect(!run("3", of: 1, waiting: 1) && !run("none", of: 1, alone: false, waiting: 1))
    end("1")
    #expect(run("3", of: 1, waiting: 1) && !run("none", of: 1, alone: false, waiting: 1))
    end("2")
    #expect(run("behind", of: 1, alone: false, waiting: 1))
    end("3")
    #expect(order == ["1", "2", "light", "3", "behind"])
  }

  /// One inside the other they would not fit into a thread's stack.
  @Test(arguments: [false, true]) func `Very many that are done at once`(isAlone: Bool) {
    let count = Mutex(0)
    #expect(run("first", of: 1))
    for _ in 0..<300_000 {
      let isAccepted = turns.run(for: 1, alone: isAlone, waiting: .max) { done in
        count.withLock { $0 += 1 }
        done()
      }
      guard isAccepted else { break }
    }
    #expect(count.withLock { $0 } == 0)
    end("first")
    #expect(count.withLock { $0 } == 300_000)
    #expect(run("last", of: 1) && order.last == "last")
  }
}
