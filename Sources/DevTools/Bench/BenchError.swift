import Glibc

/// Why a measurement did not take place.
package enum BenchError: Error, Equatable, CustomStringConvertible {
  /// A system call failed; with the positive errno.
  case system(call: String, number: Int32)
  /// A peer's program is not on this machine.
  case notInstalled(String)
  /// Something did not happen in time.
  case timedOut(String)
  /// A server or a file said something else than was expected.
  case unexpected(String)
  /// The command line is wrong.
  case usage(String)

  /// One line for people.
  package var description: String {
    switch self {
    case .system(let call, let number):
      "\(call): \(strerror(number).map { String(cString: $0) } ?? "error \(number)")"
    case .notInstalled(let program): "\(program) is not installed"
    case .timedOut(let what): "timed out: \(what)"
    case .unexpected(let what): what
    case .usage(let what): what
    }
  }

  /// Turns a negated errno of a CLinux call into an error.
  @discardableResult
  static func check(_ result: Int32, _ call: String) throws(BenchError) -> Int32 {
    guard result >= 0 else { throw .system(call: call, number: -result) }
    return result
  }
}
