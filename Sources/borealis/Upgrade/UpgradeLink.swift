import BorealisBase
import BorealisNet
import CLinux
import Glibc

/// One end of the Unix socket between a server and the process that is to take its place. What is sent are
/// frames: a kind, the number of descriptors that come with it, the length of the content, and the content.
/// One thread uses it.
final class UpgradeLink: Sendable {
  /// What a frame is. The numbers are the same in all versions.
  enum Kind: UInt8 {
    /// From the server: what it serves, as `UpgradeOffer`, with the locks of the folder and the socket for
    /// commands.
    case offer = 1
    /// The listening sockets of an address of the offer, in its order.
    case listeners = 2
    /// Sessions of devices, and their sockets; and sockets of HTTP connections between requests.
    case devices = 3
    case requests = 4
    /// That was all, and everything that the server was told is stored. The content is the moment since which
    /// nobody has looked at sockets, in 8 bytes, on the clock that counts suspension.
    case complete = 5
    /// The new process has the server's place from now on.
    case go = 6

    /// From the new process: it could begin at once; the content is its version.
    case prepared = 32
    /// It has all sessions, and has read the database. The content is the number of devices that it cannot
    /// take over, in 4 bytes.
    case ready = 33
    /// It serves.
    case serving = 34
    /// It cannot take the place; the content says why.
    case refused = 35
  }

  struct Frame {
    let kind: Kind
    var content: [UInt8]
    let descriptors: [Int32]

    var text: String { String(decoding: content, as: UTF8.self) }
  }

  /// Why a frame did not come, or did not leave.
  enum Fault: Error {
    /// The process at the other end has ended, or has closed it.
    case gone
    case late
    /// What came is not a frame.
    case unreadable
    /// It is more than a frame takes.
    case tooLarge
    /// This process is to stop.
    case interrupted
  }

  /// Bytes of a frame's content, and descriptors that come with it.
  static let (largest, mostDescriptors) = (32 << 20, Int(CL_MOST_DESCRIPTORS))
  private static let head = 7

  /// Milliseconds after which a wait looks whether it is to end, and microseconds of one for descriptors.
  private static let (look, pause): (Int32, UInt32) = (100, 1000)

  private let socket: Int32
  private let time = SystemTime()
  private let isInterrupted: @Sendable () -> Bool

  /// Closes the socket when it goes. As soon as `isInterrupted` returns true nothing is waited for.
  init(_ socket: Int32, isInterrupted: @escaping @Sendable () -> Bool = { false }) {
    (self.socket, self.isInterrupted) = (socket, isInterrupted)
    _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
  }

  deinit { close(socket) }

  /// Both ends of a new one; the second is for another process.
  static func pair(
    isInterrupted: @escaping @Sendable () -> Bool
  ) throws(Failure) -> (UpgradeLink, other: Int32) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw .failed("cannot make a socket: \(SystemCalls.reason(errno))")
    }
    return (UpgradeLink(ends[0], isInterrupted: isInterrupted), ends[1])
  }

  /// The process at the other end, as the kernel knows it.
  var peer: pid_t {
    var peer: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
    var size = socklen_t(MemoryLayout.size(ofValue: peer))
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.process : 0
  }

  /// Sends a frame; descriptors stay open here. `deadline` is a moment of the clock that never jumps.
  func send(
    _ kind: Kind, _ content: [UInt8] = [], _ descriptors: [Int32] = [], until deadline: UInt64
  ) throws(Fault) {
    guard content.count <= Self.largest, descriptors.count <= Self.mostDescriptors else { throw .tooLarge }
    var writer = ByteWriter(capacity: Self.head + content.count)
    writer.write(kind.rawValue)
    writer.write(UInt16(descriptors.count))
    writer.write(UInt32(content.count))
    writer.write(bytes: content)
    // It may have keys of devices.
    defer { writer.bytes.wipe() }
    var sent = 0
    while sent < writer.bytes.count {
      let count = writer.bytes.withUnsafeBytes { bytes in
        cl_send_descriptors(
          socket, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, descriptors,
          sent == 0 ? Int32(descriptors.count) : 0)
      }
      if count > 0 {
        sent += count
      } else if count == -Int(EAGAIN) || count == -Int(EINTR) {
        try wait(for: POLLOUT, until: deadline)
      } else if count == -Int(ETOOMANYREFS) {
        // Of those that are under way some have to arrive first. The socket says nothing of it.
        try wait(for: POLLOUT, until: deadline)
        usleep(Self.pause)
      } else {
        throw .gone
      }
    }
  }

  /// The next frame.
  func receive(until deadline: UInt64) throws(Fault) -> Frame {
    var descriptors: [Int32] = []
    let head = try read(Self.head, &descriptors, until: deadline)
    var reader = ByteReader(head)
    guard let kind = reader.read(UInt8.self).flatMap(Kind.init(rawValue:)),
      let count = reader.read(UInt16.self), let size = reader.read(UInt32.self), Int(size) <= Self.largest
    else { throw .unreadable }
    let content = try read(Int(size), &descriptors, until: deadline)
    guard descriptors.count == Int(count) else { throw .unreadable }
    return Frame(kind: kind, content: content, descriptors: descriptors)
  }

  private func read(
    _ count: Int, _ descriptors: inout [Int32], until deadline: UInt64
  ) throws(Fault) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      var found = [Int32](repeating: -1, count: Self.mostDescriptors)
      var number: Int32 = 0
      let got = bytes.withUnsafeMutableBytes { raw in
        cl_receive_descriptors(
          socket, raw.baseAddress.map { $0 + done }, raw.count - done, &found, &number)
      }
      descriptors += found[..<Int(number)]
      if got > 0 {
        done += got
      } else if got == -Int(EAGAIN) || got == -Int(EINTR) {
        try wait(for: POLLIN, until: deadline)
      } else {
        throw got == 0 || got == -Int(ECONNRESET) ? .gone : .unreadable
      }
    }
    return bytes
  }

  private func wait(for event: Int32, until deadline: UInt64) throws(Fault) {
    BlockingCall.assertAllowed()
    let now = time.monotonic()
    guard now < deadline else { throw .late }
    guard !isInterrupted() else { throw .interrupted }
    var look = pollfd(fd: socket, events: Int16(event), revents: 0)
    _ = poll(&look, 1, min(Self.look, Int32(clamping: (deadline - now) / 1_000_000 + 1)))
  }
}
