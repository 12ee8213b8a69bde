import BorealisBase
import Glibc
import Synchronization

/// Threads that make requests which cost much processor time, such as those that are sealed for each device:
/// one for each processor but one, at most eight. They start with their first work, and yield to threads that
/// somebody waits for.
final class RequestMakers: Sendable {
  private let threads: [BackgroundWork]
  private let next = Atomic<Int>(0)

  init() {
    let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    threads = (0..<min(8, max(1, processors - 1))).map {
      // As many jobs as requests may be under way, and more.
      BackgroundWork("requests-\($0)", limit: 65_536, niceness: 5)
    }
  }

  /// Does something for each of many, in as many shares as there are threads.
  func forEach<Element: Sendable>(_ all: [Element], _ body: @escaping @Sendable (Element) -> Void) {
    let size = (all.count + threads.count - 1) / threads.count
    var start = 0
    while start < all.count {
      let share = all[start..<min(all.count, start + size)]
      start += size
      let thread = threads[next.wrappingAdd(1, ordering: .relaxed).newValue % threads.count]
      if !thread.run({ for one in share { body(one) } }) { for one in share { body(one) } }
    }
  }
}
