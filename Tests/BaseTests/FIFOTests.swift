import BorealisBase
import Testing

struct FIFOTests {
  /// The queue keeps its order, and what is put back comes first.
  @Test func order() {
    var queue = FIFO<Int>()
    var model: [Int] = []
    for step in 0..<5000 {
      switch step % 7 {
      case 0, 1, 2, 4:
        queue.append(step)
        model.append(step)
      case 5 where !model.isEmpty:
        queue.putBack(step)
        model.insert(step, at: 0)
      case 6 where !model.isEmpty:
        #expect(queue.popFirst(upTo: 3) == Array(model.prefix(3)))
        model.removeFirst(min(3, model.count))
      default:
        #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
      }
      #expect(queue.count == model.count)
    }
    #expect(queue.removeAll() == model && queue.isEmpty)
  }
}
