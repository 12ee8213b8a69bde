import Glibc

/// System calls for command line programs.
public enum SystemCalls {
  /// Writes all bytes, in one call if the system accepts them; false on failure (`errno` says why).
  public static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var start = 0
    while start < bytes.count {
      let written = bytes.span.extracting(start...).withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return false }
      start += written
    }
    return true
  }

  /// The message of a positive `errno`.
  public static func reason(_ number: Int32) -> String {
    switch number {
    case EADDRINUSE: "the address is in use"
    case EADDRNOTAVAIL: "this machine has no such address"
    case EACCES, EPERM: "permission denied"
    default: strerror(number).map { String(cString: $0) } ?? "error \(number)"
    }
  }
}
