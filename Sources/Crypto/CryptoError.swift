import COpenSSL

/// Why a certificate could not be made or read.
package enum CryptoError: Error, Equatable, CustomStringConvertible {
  /// A name that a certificate cannot contain.
  case invalidName(String)
  /// An address that is neither IPv4 nor IPv6.
  case invalidAddress(String)
  /// A lifetime outside 1...36500 days.
  case invalidDays(Int)
  /// The text holds no certificate in PEM form.
  case notACertificate
  /// OpenSSL refused; the text is its own.
  case library(String)

  /// One line for people.
  package var description: String {
    switch self {
    case .invalidName(let name): "\"\(name)\" cannot be a name in a certificate"
    case .invalidAddress(let address): "\"\(address)\" is not an IPv4 or IPv6 address"
    case .invalidDays(let days): "a certificate cannot be valid for \(days) days (1 to 36500)"
    case .notACertificate: "the text holds no certificate in PEM form"
    case .library(let reason): "OpenSSL: \(reason)"
    }
  }

  /// What OpenSSL said last on this thread.
  static func fromQueue() -> CryptoError { .library(reasonFromQueue()) }

  /// Returns the first reason in OpenSSL's queue of this thread and empties the queue.
  static func reasonFromQueue() -> String {
    let code = ERR_get_error()
    ERR_clear_error()
    guard code != 0, let text = ERR_reason_error_string(code) else { return "no reason given" }
    return String(cString: text)
  }
}
