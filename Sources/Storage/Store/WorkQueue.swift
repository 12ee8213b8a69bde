import BorealisBase
import Glibc

/// A bounded first-in, first-out queue that threads wait at. Elements may have low priority: others go before
/// them. Or they may go ahead of all others, and have room of their own. `@unchecked Sendable`: all that
/// changes is touched only while `lock` is held, and both pthread objects keep their address for life.
final class WorkQueue<Element: Sendable>: @unchecked Sendable {
  enum Answer { case accepted, full, closed, suspended }

  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let filled: UnsafeMutablePointer<pthread_cond_t>
  private let capacity: Int
  /// What was added since `leaving` was filled, oldest first.
  private var arriving: [Element] = []
  /// What is handed out next, from `head` on. Two arrays, so that no element is ever moved.
  private var leaving: [Element] = []
  private var head = 0
  /// What goes before these.
  private var aheadElements: [Element] = []
  private var lowPriorityElements: [Element] = []
  private var lowPriorityHead = 0
  /// How often others have gone before a low-priority element.
  private var passedOver = 0
  /// Threads that wait for an element.
  private var sleepers = 0
  private var isClosed = false
  private var isSuspended = false

  /// How often a low-priority element is passed over at most.
  private static var mostPassedOver: Int { 8 }

  /// Starts empty.
  init(capacity: Int) {
    self.capacity = capacity
    lock = .allocate(capacity: 1)
    filled = .allocate(capacity: 1)
    pthread_mutex_init(lock, nil)
    pthread_cond_init(filled, nil)
  }

  deinit {
    pthread_cond_destroy(filled)
    pthread_mutex_destroy(lock)
    filled.deallocate()
    lock.deallocate()
  }

  /// Adds an element, unless the queue is full or closed.
  func push(_ element: Element, lowPriority: Bool = false, ahead: Bool = false) -> Answer {
    pthread_mutex_lock(lock)
    let answer = ahead ? addAhead(element) : add(element, lowPriority)
    let wakes = answer == .accepted && sleepers > 0
    pthread_mutex_unlock(lock)
    // Only now, else the thread that wakes would have to wait for the lock.
    if wakes { pthread_cond_signal(filled) }
    return answer
  }

  private func add(_ element: Element, _ lowPriority: Bool) -> Answer {
    if isClosed { return .closed }
    if isSuspended { return .suspended }
    if waiting - aheadElements.count >= capacity { return .full }
    if lowPriority { lowPriorityElements.append(element) } else { arriving.append(element) }
    return .accepted
  }

  private func addAhead(_ element: Element) -> Answer {
    if isClosed { return .closed }
    if isSuspended { return .suspended }
    if aheadElements.count >= capacity { return .full }
    aheadElements.append(element)
    return .accepted
  }

  /// Waits for elements and removes up to `limit` of the oldest, none if only low-priority ones wait; nil
  /// once the queue is closed and empty.
  func dequeue(upTo limit: Int) -> [Element]? {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    while waiting == 0 {
      if isClosed { return nil }
      sleepers += 1
      pthread_cond_wait(filled, lock)
      sleepers -= 1
    }
    if leaving.isEmpty { swap(&leaving, &arriving) }
    let first = aheadElements.prefix(limit)
    aheadElements.removeFirst(first.count)
    let end = min(head + limit - first.count, leaving.count)
    let elements = first + leaving[head..<end]
    head = end
    if head == leaving.count {
      leaving.removeAll(keepingCapacity: true)
      head = 0
    }
    return Array(elements)
  }

  /// The oldest low-priority element, if no other waits or it was skipped often enough. `isAlone` says
  /// whether the elements returned before have low priority too.
  func dequeueLowPriority(isAlone: Bool) -> Element? {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    guard lowPriorityHead < lowPriorityElements.count else { return nil }
    if !isAlone || normalCount > 0 {
      passedOver += 1
      guard passedOver > Self.mostPassedOver else { return nil }
    }
    passedOver = 0
    defer {
      lowPriorityHead += 1
      if lowPriorityHead == lowPriorityElements.count || lowPriorityHead > 1024 {
        lowPriorityElements.removeFirst(lowPriorityHead)
        lowPriorityHead = 0
      }
    }
    return lowPriorityElements[lowPriorityHead]
  }

  private var normalCount: Int { aheadElements.count + arriving.count + leaving.count - head }
  private var waiting: Int { normalCount + lowPriorityElements.count - lowPriorityHead }

  /// Refuses further elements until `resume`, and hands out all that wait, those of low priority last.
  func suspend() -> [Element] {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    isSuspended = true
    return removeAll()
  }

  /// Removes and returns all that wait, those of low priority last.
  func drain() -> [Element] {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return removeAll()
  }

  private func removeAll() -> [Element] {
    let elements = aheadElements + leaving[head...] + arriving + lowPriorityElements[lowPriorityHead...]
    (aheadElements, arriving, leaving, lowPriorityElements) = ([], [], [], [])
    (head, lowPriorityHead) = (0, 0)
    return Array(elements)
  }

  /// Accepts elements again.
  func resume() {
    pthread_mutex_lock(lock)
    isSuspended = false
    pthread_mutex_unlock(lock)
  }

  /// Refuses further elements; what waits is still handed out.
  func close() {
    pthread_mutex_lock(lock)
    isClosed = true
    pthread_cond_broadcast(filled)
    pthread_mutex_unlock(lock)
  }

  /// How many elements wait.
  var count: Int {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return waiting
  }
}

/// A thread of the store's own.
enum WorkThread {
  /// Starts the thread; SQLite's own need of stack is small.
  static func start(_ name: String, _ body: sending @escaping () -> Void) throws(StorageError) {
    do throws(SystemThread.Failure) {
      try SystemThread.start(name, body)
    } catch {
      throw StorageError(.io, "cannot start a thread (errno \(error.number))")
    }
  }
}
