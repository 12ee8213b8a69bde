import BorealisBase
import CLinux
import Glibc

/// Looks host names up on a thread of its own, which starts with the first name that needs it.
package final class NameResolver: Sendable {
  /// Names wait for the look-up before them; those who ask have deadlines of their own, so more than a few
  /// are of no use.
  private let work = BackgroundWork("names", limit: 1024)

  /// Starts no thread yet.
  package init() {}

  /// Whether a host is an IP address.
  package static func isNumeric(_ host: String) -> Bool {
    var address = in6_addr()
    return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
  }

  /// Calls `done` with up to eight numeric addresses of a host, best first, on the resolver's thread; with
  /// none if there are none, or, at once, if too many names wait.
  package func resolve(_ host: String, done: @escaping @Sendable ([String]) -> Void) {
    if !work.run({ done(Self.lookUp(host)) }) { done([]) }
  }

  private static func lookUp(_ host: String) -> [String] {
    BlockingCall.assertAllowed()
    let size = Int(CL_ADDRESS_BYTES)
    var text = [CChar](repeating: 0, count: 8 * size)
    let count = cl_resolve(host, &text, 8)
    return (0..<max(0, Int(count))).map { index in
      let bytes = text[index * size..<(index + 1) * size].prefix { $0 != 0 }
      return String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }
}
