import BorealisBase
import Foundation
import Network

/// All devices of a hub on a queue of its own. `@unchecked Sendable`: whatever changes is used on that
/// queue alone.
final class QueueDriver: DeviceDriver, @unchecked Sendable {
  /// The queue; all calls from the system are made on it.
  let queue = DispatchQueue(label: "borealis")
  /// How connections are protected.
  let security: LinkSecurity
  var runners: [UInt32: DeviceRunner] = [:]

  private let timer: any DispatchSourceTimer
  private let monitor = NWPathMonitor()
  private var clock = QueueClock(QueueDriver.reading)
  /// When the timer comes, in milliseconds of `now`.
  private var due: UInt64?
  /// Connections that have something to send at the end of the turn.
  private var unflushed: [NetworkLink] = []
  /// Nil before the first report of the network.
  private var hadNetwork: Bool?

  init(_ security: LinkSecurity) {
    self.security = security
    timer = DispatchSource.makeTimerSource(queue: queue)
  }

  func begin() {
    timer.setEventHandler { [weak self] in self?.turn { $0.due = nil } }
    timer.activate()
    monitor.pathUpdateHandler = { [weak self] path in
      self?.turn { $0.networkChanged(isThere: path.status == .satisfied) }
    }
    monitor.start(queue: queue)
  }

  func end() {
    queue.async { [self] in
      timer.cancel()
      monitor.cancel()
      runners = [:]
    }
  }

  func post(_ message: HubMessage) { queue.async { [self] in turn { $0.handle(message) } } }

  var now: UInt64 { clock.now }

  var steady: UInt64 { clock.steady }

  var wall: Int64 { Int64(Date().timeIntervalSince1970) }

  func schedule(_ runner: DeviceRunner, _ deadline: UInt64?) {
    guard let deadline, deadline < runner.scheduled ?? .max else { return }
    runner.scheduled = deadline
  }

  func makeLink(for runner: DeviceRunner) -> any DeviceLink { NetworkLink(runner, self) }

  /// Sends what the connection has at the end of the turn.
  func flushLater(_ link: NetworkLink) { if unflushed.last !== link { unflushed.append(link) } }

  /// Does something on the queue, and then what became due.
  func turn(_ body: (QueueDriver) -> Void) {
    if clock.advance(to: Self.reading, due: due) { for runner in runners.values { runner.resumed() } }
    body(self)
    for runner in runners.values {
      guard let deadline = runner.scheduled, deadline <= now else { continue }
      runner.scheduled = nil
      runner.deadlineReached()
    }
    let links = unflushed
    unflushed = []
    for link in links { link.flush() }
    setTimer()
  }

  private func setTimer() {
    let next = runners.values.compactMap(\.scheduled).min()
    guard next != due else { return }
    due = next
    guard let next else { return timer.schedule(deadline: .distantFuture) }
    timer.schedule(
      deadline: .now() + .milliseconds(Int(clamping: next - min(next, now))), leeway: .milliseconds(100))
  }

  private func networkChanged(isThere: Bool) {
    defer { hadNetwork = isThere }
    guard hadNetwork != nil, isThere else { return }
    for runner in runners.values { runner.networkChanged() }
  }

  /// Milliseconds on a clock that goes on while the process is stopped and the device sleeps.
  private static var reading: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }
}
