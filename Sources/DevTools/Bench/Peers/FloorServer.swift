import CLinux
import Glibc

/// The kernel's floor: a process that does nothing but send. A connection whose first byte is `R` receives;
/// one whose first byte is `S` sends messages of a fixed size, and each goes to every receiver by a plain
/// send() loop. It has a socket and an epoll of its own, and neither queues nor deadlines, since it is what
/// the product's connections are measured against.
struct FloorServer {
  static let receiverMark = UInt8(ascii: "R")
  static let senderMark = UInt8(ascii: "S")
  /// Bytes of a message.
  static let messageSize = 200

  private enum Role: Equatable {
    case unknown
    case sender
    /// Its place among the receivers.
    case receiver(Int)
  }

  private let listener: Int32
  private let epoll: Int32
  /// By file descriptor.
  private var roles: [Role] = []
  private var receivers: [Int32] = []
  private var pending: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 64 * 1024)

  /// Prints its port and serves until it is killed.
  static func run() -> Int32 {
    guard var server = FloorServer() else { return 1 }
    let line = Array("\(cl_local_port(server.listener))\n".utf8)
    guard line.withUnsafeBytes({ write(1, $0.baseAddress, $0.count) }) == line.count else { return 1 }
    server.serve()
    return 1
  }

  private init?() {
    listener = cl_listen("127.0.0.1", 0, 4096, 0)
    epoll = cl_epoll_create()
    guard listener >= 0, epoll >= 0, cl_epoll_add(epoll, listener, UInt32(CL_IN), UInt64(listener)) >= 0
    else { return nil }
  }

  private mutating func serve() {
    var events = [cl_event](repeating: cl_event(), count: 512)
    while true {
      let count = cl_epoll_wait(epoll, &events, 512, -1)
      for event in events.prefix(Int(max(0, count))) {
        let descriptor = Int32(truncatingIfNeeded: event.token)
        descriptor == listener ? accept() : read(descriptor)
      }
    }
  }

  private mutating func accept() {
    while true {
      let descriptor = cl_accept(listener)
      guard descriptor >= 0 else { return }
      while roles.count <= Int(descriptor) { roles.append(.unknown) }
      roles[Int(descriptor)] = .unknown
      _ = cl_epoll_add(epoll, descriptor, UInt32(CL_IN), UInt64(descriptor))
    }
  }

  private mutating func read(_ descriptor: Int32) {
    let count = cl_read(descriptor, &buffer, buffer.count)
    if count == -Int(EAGAIN) { return }
    guard count > 0 else { return close(descriptor) }
    var bytes = buffer[..<count]
    if roles[Int(descriptor)] == .unknown {
      if bytes.popFirst() == Self.senderMark {
        roles[Int(descriptor)] = .sender
      } else {
        roles[Int(descriptor)] = .receiver(receivers.count)
        receivers.append(descriptor)
        _ = cl_send(descriptor, [Self.receiverMark], 1)
      }
    }
    if roles[Int(descriptor)] == .sender { send(bytes) }
  }

  private mutating func close(_ descriptor: Int32) {
    if case .receiver(let place) = roles[Int(descriptor)], let last = receivers.popLast(), last != descriptor
    {
      receivers[place] = last
      roles[Int(last)] = .receiver(place)
    }
    _ = cl_close(descriptor)
  }

  private mutating func send(_ bytes: ArraySlice<UInt8>) {
    pending += bytes
    while pending.count >= Self.messageSize {
      pending.withUnsafeBytes { message in
        // A receiver is some messages behind at most, so its socket always has room.
        for receiver in receivers { _ = cl_send(receiver, message.baseAddress, Self.messageSize) }
      }
      pending.removeFirst(Self.messageSize)
    }
  }
}
