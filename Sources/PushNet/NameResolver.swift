import CLinux
import Glibc
import Synchronization

/// Looks host names up on a thread of its own, which starts with the first name that needs it.
public final class NameResolver: Sendable {
  private let thread = Mutex<LoopHandle?>(nil)

  /// Starts no thread yet.
  public init() {}

  deinit { thread.withLock { $0 }?.post { $0.stop() } }

  /// Tells whether a host is an address already.
  public static func isNumeric(_ host: String) -> Bool {
    var address = in6_addr()
    return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
  }

  /// Calls `done` on the resolver's thread with up to eight numeric addresses of a host, best first; none if there are
  /// none. Names wait for the look-up before them.
  public func resolve(_ host: String, done: @escaping @Sendable ([String]) -> Void) {
    guard let handle = started() else { return done([]) }
    handle.post { _ in done(Self.lookUp(host)) }
  }

  private func started() -> LoopHandle? {
    thread.withLock { thread in
      if let running = thread { return running }
      guard let handle = try? LoopHandle(index: 1), (try? handle.start({ _ in }, failed: { _ in })) != nil
      else { return nil }
      thread = handle
      return handle
    }
  }

  private static func lookUp(_ host: String) -> [String] {
    let size = Int(CL_ADDRESS_BYTES)
    var text = [CChar](repeating: 0, count: 8 * size)
    let count = cl_resolve(host, &text, 8)
    return (0..<max(0, Int(count))).map { index in
      let bytes = text[index * size..<(index + 1) * size].prefix { $0 != 0 }
      return String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }
}
