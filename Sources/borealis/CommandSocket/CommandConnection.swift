import BorealisBase
import CLinux
import Glibc
import Synchronization

/// One end of a connection between a command and the server that carries it out. What is sent are frames: a
/// kind, the length of the content (four bytes, the highest first) and the content. One thread uses it.
final class CommandConnection: Sendable {
  /// What a frame is. The numbers are the same in all versions.
  enum Kind: UInt8 {
    /// The command: see `CommandRequest`.
    case request = 1
    /// A file is open, or was not; then the content says why.
    case opened = 2
    case notOpened = 3
    /// The next bytes of the file, none at its end; or why they cannot be read.
    case bytes = 4
    case notRead = 5
    /// A password; or there is none.
    case password = 6
    case noPassword = 7

    /// The server has begun to carry the command out.
    case begun = 32
    /// For standard output and standard error.
    case output = 33
    case errors = 34
    /// Asks for a file, for its next bytes, and for a password.
    case open = 35
    case read = 36
    case askPassword = 37
    /// The command has ended, with this status.
    case ended = 38
  }

  /// Bytes of a frame's content.
  static let largest = 1 << 20

  private let descriptor: Int32

  /// Closes the socket when it goes.
  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Takes nothing more of what the other side sends. Any thread.
  func endInput() { shutdown(descriptor, Int32(SHUT_RD)) }

  /// Ends the connection, which wakes who reads or writes. Any thread.
  func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// How long the other side may take for each step, in seconds.
  func setPatience(_ seconds: Int) {
    var time = timeval(tv_sec: seconds, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  /// Whether the other side belongs to the user of this process, or to root.
  var isOfOwner: Bool {
    var peer: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
    var size = socklen_t(MemoryLayout.size(ofValue: peer))
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 else { return false }
    return peer.user == geteuid() || peer.user == 0
  }

  /// Sends a frame; false if the other side has gone, or does not read.
  @discardableResult
  func send(_ kind: Kind, _ content: [UInt8] = []) -> Bool {
    BlockingCall.assertAllowed()
    var writer = ByteWriter(capacity: 5 + content.count)
    writer.write(kind.rawValue)
    writer.write(UInt32(clamping: content.count))
    let bytes = writer.bytes + content
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { raw in
        Glibc.send(
          descriptor, raw.baseAddress.map { $0 + sent }, raw.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Waits for the next frame; nil if the other side has gone, says nothing, or says what is not a frame.
  func receive() -> (kind: Kind, content: [UInt8])? {
    BlockingCall.assertAllowed()
    guard let head = read(5), let kind = Kind(rawValue: head[0]) else { return nil }
    let size = head[1...].reduce(0) { $0 << 8 | Int($1) }
    guard size <= Self.largest, let content = read(size) else { return nil }
    return (kind, content)
  }

  private func read(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let read = bytes.withUnsafeMutableBytes { raw in
        recv(descriptor, raw.baseAddress.map { $0 + done }, raw.count - done, 0)
      }
      if read < 0, errno == EINTR { continue }
      guard read > 0 else { return nil }
      done += read
    }
    return bytes
  }
}
