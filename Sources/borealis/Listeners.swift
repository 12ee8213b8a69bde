import CLinux
import Glibc
import PushOps

/// The listening sockets of one address, one for each event loop: the kernel spreads connections over them.
struct Listeners: Sendable {
  /// `HOST:PORT` with the port that was bound.
  let address: String
  /// In the order of the loops.
  let descriptors: [Int32]

  private static let backlog: Int32 = 4096

  /// Binds an address as often as there are loops. Failing, it leaves sockets open: the program ends then.
  init(_ wanted: HostPort, setting: String, count: Int) throws(Failure) {
    let host = wanted.host.contains(":") ? "[\(wanted.host)]" : wanted.host
    let first: Int32
    let port: UInt16
    do throws(Refusal) {
      // Sockets that share a port would also share it with another server's, and each would get some of the
      // connections. One that shares nothing finds out.
      if wanted.port != 0 { _ = cl_close(try Self.open(wanted.host, wanted.port, shared: false)) }
      first = try Self.open(wanted.host, wanted.port, shared: true)
      port = UInt16(clamping: cl_local_port(first))
      var all = [first]
      for _ in 1..<max(1, count) { all.append(try Self.open(wanted.host, port, shared: true)) }
      descriptors = all
    } catch {
      throw .failed(
        "--\(setting): cannot listen on \(host):\(wanted.port): \(SystemCalls.reason(error.number))")
    }
    address = "\(host):\(port)"
  }

  private struct Refusal: Error {
    let number: Int32
  }

  private static func open(_ host: String, _ port: UInt16, shared: Bool) throws(Refusal) -> Int32 {
    let descriptor = cl_listen(host, port, backlog, shared ? 1 : 0)
    guard descriptor >= 0 else { throw Refusal(number: -descriptor) }
    return descriptor
  }
}
