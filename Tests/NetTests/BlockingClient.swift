import BorealisNet
import CLinux
import Glibc

/// A client socket that waits in poll(2), for tests.
final class BlockingClient {
  private let descriptor: Int32

  init(port: UInt16) throws { descriptor = try SystemError.check(cl_connect("127.0.0.1", port), "connect") }

  deinit { _ = cl_close(descriptor) }

  func write(_ text: String) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      try wait(Int16(POLLOUT))
      let count = Array(rest).withUnsafeBytes { cl_send(descriptor, $0.baseAddress, $0.count) }
      try SystemError.check(Int32(count), "send")
      rest = rest.dropFirst(count)
    }
  }

  func read(count: Int) throws -> String {
    var bytes: [UInt8] = []
    while bytes.count < count {
      try wait(Int16(POLLIN))
      var buffer = [UInt8](repeating: 0, count: count - bytes.count)
      guard let got = try Socket.read(descriptor, into: &buffer) else { continue }
      guard got > 0 else { break }
      bytes += buffer[..<got]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func wait(_ events: Int16) throws {
    var wanted = pollfd(fd: descriptor, events: events, revents: 0)
    guard poll(&wanted, 1, 20_000) == 1 else { throw SystemError(call: "poll", number: ETIMEDOUT) }
  }
}
