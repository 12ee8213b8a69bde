import BorealisBase
import CLinux
import Glibc

/// The sockets of one address, one for each event loop: the kernel spreads connections over them. They are
/// bound at once, so that a port in use is found out first of all, and listen when everything is ready.
struct Listeners: Sendable {
  /// The setting of the address.
  let name: String
  /// `HOST:PORT` with the port that was bound.
  let address: String
  /// In the order of the loops.
  let descriptors: [Int32]

  /// What `listen` binds to; nil for sockets that listen already.
  private let place: (host: String, port: UInt16)?

  private static let backlog: Int32 = 4096

  /// Binds an address as often as there are loops. Failing, it leaves sockets open: the program ends then.
  init(_ wanted: HostPort, setting: String, count: Int) throws(Failure) {
    let host = wanted.host.contains(":") ? "[\(wanted.host)]" : wanted.host
    let first: Int32
    let port: UInt16
    name = setting
    do throws(Refusal) {
      // Sockets that share a port would also share it with another server's, and each would get some of the
      // connections. One that shares nothing finds out.
      if wanted.port != 0 { _ = cl_close(try Self.open(wanted.host, wanted.port, shared: false)) }
      first = try Self.open(wanted.host, wanted.port, shared: true)
      port = UInt16(clamping: cl_local_port(first))
      var all = [first]
      for _ in 1..<max(1, count) { all.append(try Self.open(wanted.host, port, shared: true)) }
      descriptors = all
      place = (wanted.host, port)
    } catch {
      throw .failed(
        "--\(setting): cannot listen on \(host):\(wanted.port): \(SystemCalls.reason(error.number))")
    }
    address = "\(host):\(port)"
  }

  /// Those of another process, which listen, and of which connections may wait.
  init(name: String, listening address: String, descriptors: [Int32]) {
    (self.name, self.address, self.descriptors) = (name, address, descriptors)
    place = nil
  }

  /// Takes connections from now on.
  func listen() throws(Failure) {
    guard let (host, port) = place else { return }
    // Another server may have bound the port in the meantime: until one listens, sockets share it silently.
    let probe = cl_listen(host, port, 1, 0)
    guard probe >= 0 else {
      throw .failed("cannot listen on \(address): \(SystemCalls.reason(-probe))")
    }
    _ = cl_close(probe)
    for descriptor in descriptors where Glibc.listen(descriptor, Self.backlog) < 0 {
      throw .failed("cannot listen on \(address): \(SystemCalls.reason(errno))")
    }
  }

  private struct Refusal: Error {
    let number: Int32
  }

  private static func open(_ host: String, _ port: UInt16, shared: Bool) throws(Refusal) -> Int32 {
    let descriptor = cl_bind(host, port, shared ? 1 : 0)
    guard descriptor >= 0 else { throw Refusal(number: -descriptor) }
    return descriptor
  }
}
