import Glibc

/// A pipe of which the test has both ends.
package final class TestPipe {
  /// The end to read from.
  package let reader: Int32
  /// The end to write to.
  package let writer: Int32

  /// Makes one; `isFull` leaves no room in it.
  package init(isFull: Bool = false) {
    var ends: [Int32] = [-1, -1]
    _ = pipe(&ends)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (reader, writer) = (ends[0], ends[1])
    guard isFull else { return }
    isWaiting = false
    while write(writer, ".", 1) == 1 {}
    isWaiting = true
  }

  deinit { for end in [reader, writer] { close(end) } }

  /// Whether who writes waits for room.
  package var isWaiting: Bool {
    get { fcntl(writer, F_GETFL) & O_NONBLOCK == 0 }
    set {
      let flags = fcntl(writer, F_GETFL)
      _ = fcntl(writer, F_SETFL, newValue ? flags & ~O_NONBLOCK : flags | O_NONBLOCK)
    }
  }

  /// Reads until a text has come, for a minute at most.
  package func read(until end: String) -> String {
    var text = ""
    while !text.hasSuffix(end) {
      var poll = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
      guard Glibc.poll(&poll, 1, 60_000) > 0 else { break }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = Glibc.read(reader, &buffer, buffer.count)
      guard count > 0 else { break }
      text += String(decoding: buffer[..<count], as: UTF8.self)
    }
    return text
  }
}
