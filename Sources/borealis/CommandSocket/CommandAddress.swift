import BorealisBase
import Glibc

/// The Unix socket in a data folder over which its server takes commands.
struct CommandAddress {
  private static let name = "commands.sock"
  /// Commands that may wait to be taken.
  private static let backlog: Int32 = 64

  let path: String
  private let folder: String

  init(in folder: DataFolder) {
    self.folder = folder.path
    path = folder.path + "/" + Self.name
  }

  /// Listens, in the place of a socket that a server has left; only for who has locked the folder. Throws the
  /// reason.
  func listen() throws(Failure) -> Int32 {
    let descriptor = try Self.socket()
    unlink(path)
    // Before there is anything to connect to.
    fchmod(descriptor, 0o600)
    let status = try withAddress { bind(descriptor, $0, $1) }
    guard status == 0, Glibc.listen(descriptor, Self.backlog) == 0 else {
      let number = errno
      close(descriptor)
      throw .failed(SystemCalls.reason(number))
    }
    return descriptor
  }

  /// Connects; nil if nobody listens.
  func connect() -> CommandConnection? {
    guard let descriptor = try? Self.socket() else { return nil }
    let status = try? withAddress { Glibc.connect(descriptor, $0, $1) }
    guard status == 0 else {
      close(descriptor)
      return nil
    }
    return CommandConnection(descriptor)
  }

  func remove() { unlink(path) }

  private static func socket() throws(Failure) -> Int32 {
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .failed(SystemCalls.reason(errno)) }
    return descriptor
  }

  /// Calls with the address. A path that is too long for one goes through a descriptor of the folder.
  private func withAddress(
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws(Failure) -> Int32 {
    var address = sockaddr_un()
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count >= room else { return Self.call(&address, path, body) }
    BlockingCall.assertAllowed()
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .failed(SystemCalls.reason(errno)) }
    defer { close(descriptor) }
    return Self.call(&address, "/proc/self/fd/\(descriptor)/\(Self.name)", body)
  }

  private static func call(
    _ address: inout sockaddr_un, _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    return withUnsafeBytes(of: &address) { raw in
      guard let start = raw.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
      return body(start, socklen_t(raw.count))
    }
  }
}
