import BorealisBase
import Glibc
import PushTesting
import Synchronization

/// Stands between a program and a server that it connects to, and passes everything on until it is told not
/// to. It ends with this object.
final class TestProxy: Sendable {
  enum Way: Sendable {
    case open
    /// Nothing comes through, as when cables are cut: nobody is told. What was sent meanwhile comes later.
    case blocked
  }

  private struct State: Sendable {
    var way = Way.open
    var isClosing = false
  }

  private final class Shared: Sendable {
    let state = Mutex(State())
  }

  /// `HOST:PORT` to connect to.
  let address: String
  private let shared = Shared()

  /// `target` is `127.0.0.1:PORT`, or the path of a socket.
  init(to target: String) throws {
    let listener = socket(AF_INET, SocketKind.closingStream, 0)
    var place = Self.place(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &place) { place in
      place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(listener, $0, length) == 0 && listen(listener, 64) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard isBound else { throw TestSocket.Failure(description: "no port for a proxy") }
    address = "127.0.0.1:\(UInt16(bigEndian: place.sin_port))"
    try SystemThread.start("proxy") { [shared] in
      var pairs: [[Int32]] = []
      while Self.turn(listener, target, &pairs, shared) {}
      for end in pairs.joined() { close(end) }
      close(listener)
    }
  }

  deinit { shared.state.withLock { $0.isClosing = true } }

  /// Changes what comes through.
  func set(_ way: Way) { shared.state.withLock { $0.way = way } }

  /// Passes on what is there; false at the end.
  private static func turn(
    _ listener: Int32, _ target: String, _ pairs: inout [[Int32]], _ shared: Shared
  ) -> Bool {
    let state = shared.state.withLock { $0 }
    guard !state.isClosing else { return false }
    var polls = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
    if state.way == .open {
      polls += pairs.joined().map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    }
    if state.way == .blocked { polls = [] }
    guard poll(&polls, nfds_t(polls.count), 20) > 0 else { return true }
    for (index, pair) in pairs.enumerated().reversed() {
      let isOver = (0..<2).contains {
        polls[1 + index * 2 + $0].revents != 0 && !pass(from: pair[$0], to: pair[1 - $0])
      }
      guard isOver else { continue }
      for end in pair { close(end) }
      pairs.remove(at: index)
    }
    if polls[0].revents != 0 {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { return true }
      _ = fcntl(client, F_SETFD, FD_CLOEXEC)
      if let server = connect(to: target) { pairs.append([client, server]) } else { close(client) }
    }
    return true
  }

  private static func pass(from source: Int32, to target: Int32) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(source, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    var start = 0
    while start < count {
      let sent = buffer[start..<count].withUnsafeBytes {
        send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { return false }
      start += sent
    }
    return true
  }

  private static func place(port: UInt16) -> sockaddr_in {
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_port = port.bigEndian
    inet_pton(AF_INET, "127.0.0.1", &place.sin_addr)
    return place
  }

  private static func connect(to target: String) -> Int32? {
    let isLocal = target.hasPrefix("/")
    let end = socket(isLocal ? AF_UNIX : AF_INET, SocketKind.closingStream, 0)
    let status: Int32
    if isLocal {
      var place = sockaddr_un()
      place.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &place.sun_path) {
        $0.copyBytes(from: Array(target.utf8).prefix($0.count - 1))
      }
      status = withUnsafePointer(to: &place) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Glibc.connect(end, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    } else {
      var place = place(port: target.split(separator: ":").last.flatMap { UInt16($0) } ?? 0)
      status = withUnsafePointer(to: &place) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Glibc.connect(end, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
    guard status == 0 else {
      close(end)
      return nil
    }
    return end
  }
}
