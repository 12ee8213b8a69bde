import BorealisBase
import Model

/// Handles the receipts of a channel's service, which come to an address that only the service knows.
/// Safe to use from any thread.
package protocol ChannelReceipts: AnyObject, Sendable {
  /// Whose address ends with a code; nil if it is that of no app of this home.
  func app(of code: String) -> AppID?
  /// Finds whose address ends with a code among the apps of all homes. `done` is called once, on any thread.
  func findOwner(of code: String, done: @escaping @Sendable (ReceiptOwner) -> Void)
  /// Counts a request to an address that nobody has.
  func countUnknown()
  /// Handles a request to the address with a code. Takes some time: do not call it on a loop. `reply` is
  /// called once, when what it says is noted.
  func handle(_ request: ReceiptRequest, at code: String, reply: @escaping @Sendable (ReceiptReply) -> Void)
}

/// Whose an address for receipts is.
package enum ReceiptOwner: Sendable, Equatable {
  case app(AppKey)
  case nobody
  /// It cannot be said now.
  case unknown
}

/// The last part of an address for receipts: the app's key, by which any node finds the app's home, and what
/// nobody can guess.
package struct ReceiptCode: Sendable, Equatable {
  /// The app; nil in addresses that were told to services before they had it.
  package let app: AppKey?
  /// What only the service knows.
  package let code: String

  /// Both.
  package init(app: AppKey, code: String) { (self.app, self.code) = (app, code) }

  /// Reads `KEY-CODE`, or a code alone. A code may have hyphens, and is shorter than a key.
  package init(_ text: String) {
    let key = text.prefix(24)
    if text.dropFirst(24).first == "-", let app = AppKey(String(key)) {
      (self.app, code) = (app, String(text.dropFirst(25)))
    } else {
      (app, code) = (nil, text)
    }
  }

  /// `KEY-CODE`.
  package var text: String { app.map { "\($0.text)-\(code)" } ?? code }
}

/// A request with receipts.
package struct ReceiptRequest: Sendable {
  /// A field of the header by its name in lower case.
  package let header: @Sendable (String) -> String?
  package let body: [UInt8]

  /// Both.
  package init(body: [UInt8], header: @escaping @Sendable (String) -> String? = { _ in nil }) {
    self.header = header
    self.body = body
  }
}

/// What a service is answered.
package enum ReceiptReply: Sendable, Equatable {
  /// Its receipts are recorded: the answer in the form that the service expects.
  case accepted([UInt8])
  /// They were not, for a reason that need not be tried again.
  case refused(ReceiptRefusal)
  /// Not now.
  case later
}

/// Why receipts were refused.
package enum ReceiptRefusal: Sendable, Equatable {
  /// Nobody has this address.
  case unknown
  /// The signature is missing or wrong, or too old, or was seen before.
  case signature
  /// The body is not in the form of the service.
  case malformed
}
