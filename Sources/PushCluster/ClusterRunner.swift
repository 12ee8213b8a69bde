import PushBase
import Synchronization

/// Connects a node with a bus and the clock: one thread takes what comes, lets the node do what is due, publishes, and tells events.
public final class ClusterRunner: Sendable {
  /// Something that happened to the node or to its bus. Called on the runner's thread, in order.
  public struct Handler: Sendable {
    let node: @Sendable (ClusterOutput) -> Void
    let bus: @Sendable (BusEvent) -> Void

    /// `node` gets everything but frames to publish. A handler that takes its time lets the mailbox of the bus fill up, which drops
    /// what does not fit.
    public init(
      node: @escaping @Sendable (ClusterOutput) -> Void, bus: @escaping @Sendable (BusEvent) -> Void
    ) {
      self.node = node
      self.bus = bus
    }
  }

  private let node: Mutex<ClusterNode>
  private let bus: any Bus
  private let time: any TimeSource
  private let handler: Handler
  private let work: Semaphore
  private let ended = Semaphore()
  private let isClosing = Atomic<Bool>(false)

  /// Starts. `connect` makes the bus, which calls what it is given when there is something to take.
  public init(
    _ node: ClusterNode, time: any TimeSource = SystemTime(), handler: Handler,
    connect: (_ wake: @escaping @Sendable () -> Void) throws(SystemThread.Failure) -> any Bus
  ) throws(SystemThread.Failure) {
    self.node = Mutex(node)
    self.time = time
    self.handler = handler
    let work = Semaphore()
    self.work = work
    bus = try connect { work.signal() }
    do throws(SystemThread.Failure) {
      try SystemThread.start("cluster") { [self] in
        run()
        ended.signal()
      }
    } catch {
      bus.close()
      throw error
    }
  }

  /// What the bus has met.
  public var counts: BusCounts { bus.counts }

  /// Lets the caller send messages or ask; `now` is the moment to pass on. What is sent goes out at once if nothing was lately. Any
  /// thread; messages keep the order of the calls.
  public func use<Value: Sendable>(_ body: (inout ClusterNode, _ now: UInt64) -> Value) -> Value {
    let now = time.monotonic()
    let (value, isDue) = node.withLock { node in
      let before = node.deadline
      let value = body(&node, now)
      return (value, node.hasOutput || node.deadline < before)
    }
    if isDue { work.signal() }
    return value
  }

  /// Ends the thread and the connection. Not on the runner's thread.
  public func close() {
    guard !isClosing.exchange(true, ordering: .acquiringAndReleasing) else { return }
    work.signal()
    ended.wait()
    bus.close()
  }

  private func run() {
    while !isClosing.load(ordering: .acquiring) {
      let (frames, events) = bus.take()
      let now = time.monotonic()
      let (output, deadline) = node.withLock { node in
        for frame in frames { node.receive(frame, now: now) }
        node.tick(now: now)
        return (node.takeOutput(), node.deadline)
      }
      for event in events { handler.bus(event) }
      for item in output {
        if case .publish(let frame, let target) = item {
          bus.publish(frame, to: target)
        } else {
          handler.node(item)
        }
      }
      _ = work.wait(until: deadline)
    }
  }
}
