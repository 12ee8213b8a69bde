import CLinux
import Glibc

/// A bounded first-in, first-out queue that threads wait at. Elements may be patient: others go before them.
/// `@unchecked Sendable`: all that changes is touched only while `lock` is held, and both pthread objects keep their
/// address for life.
final class WorkQueue<Element: Sendable>: @unchecked Sendable {
  enum Answer { case accepted, full, closed }

  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let filled: UnsafeMutablePointer<pthread_cond_t>
  private let capacity: Int
  /// What was added since `leaving` was filled, oldest first.
  private var arriving: [Element] = []
  /// What is handed out next, from `taken` on. Two arrays, so that no element is ever moved.
  private var leaving: [Element] = []
  private var taken = 0
  private var patient: [Element] = []
  private var patientTaken = 0
  /// How often others have gone before a patient element.
  private var passedOver = 0
  private var isClosed = false

  /// How often a patient element is passed over at most.
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
  func push(_ element: Element, isPatient: Bool = false) -> Answer {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    if isClosed { return .closed }
    if waiting >= capacity { return .full }
    if isPatient { patient.append(element) } else { arriving.append(element) }
    pthread_cond_signal(filled)
    return .accepted
  }

  /// Waits for elements and takes up to `limit` of the oldest, none if only patient ones wait; nil once the queue is
  /// closed and empty.
  func take(_ limit: Int) -> [Element]? {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    while waiting == 0 {
      if isClosed { return nil }
      pthread_cond_wait(filled, lock)
    }
    if leaving.isEmpty { swap(&leaving, &arriving) }
    let end = min(taken + limit, leaving.count)
    let elements = Array(leaving[taken..<end])
    taken = end
    if taken == leaving.count {
      leaving.removeAll(keepingCapacity: true)
      taken = 0
    }
    return elements
  }

  /// The oldest patient element, if nobody else waits or it was passed over often enough. `isAlone` says whether what was
  /// taken before it keeps nobody waiting.
  func takePatient(isAlone: Bool) -> Element? {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    guard patientTaken < patient.count else { return nil }
    if !isAlone || impatient > 0 {
      passedOver += 1
      guard passedOver > Self.mostPassedOver else { return nil }
    }
    passedOver = 0
    defer {
      patientTaken += 1
      if patientTaken == patient.count || patientTaken > 1024 {
        patient.removeFirst(patientTaken)
        patientTaken = 0
      }
    }
    return patient[patientTaken]
  }

  private var impatient: Int { arriving.count + leaving.count - taken }
  private var waiting: Int { impatient + patient.count - patientTaken }

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

/// A thread that runs one closure, which it alone owns.
enum WorkThread {
  private final class Body {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }

  /// Starts the thread; SQLite's own need of stack is small.
  static func start(_ name: String, _ body: sending @escaping () -> Void) throws(StorageError) {
    let context = Unmanaged.passRetained(Body(body))
    let status = cl_thread_start(
      name, 1 << 20, { if let body = $0 { Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run() } },
      context.toOpaque())
    guard status >= 0 else {
      context.release()
      throw StorageError(.io, "cannot start a thread (errno \(-status))")
    }
  }
}
