import PushHTTP
import PushStorage

/// A path of the console, who may use it, and what serves it.
struct Page: Sendable {
  /// Who may use a page.
  enum Access: Sendable, Equatable {
    /// Everybody.
    case open
    /// Whoever is logged in.
    case person
    /// Whoever runs the installation.
    case operators
    /// Members of the account in the path with at least this role.
    case account(Role)
    /// Members, with at least this role, of the account that owns the app in the path.
    case app(Role)
  }

  /// What a form comes to that the browser sends a second time.
  enum Repetition: Sendable, Equatable {
    /// It is done again.
    case counts
    /// Nothing is done; the page above its path is shown, or that of its own path.
    case showsPageAbove, showsPage
  }

  typealias Handler = @Sendable (WebConsole, PageCall) -> Void

  let access: Access
  let method: String
  /// The path; segments in braces are captures.
  let pattern: String
  /// Bytes that the body may have; it is read on an event loop.
  let bodyBytes: Int
  /// Fields that its form may have.
  let fields: Int
  let repetition: Repetition
  let handle: Handler

  init(
    _ access: Access, _ method: String, _ pattern: String, body bodyBytes: Int = 128 << 10,
    fields: Int = HTTPTarget.mostItems, again repetition: Repetition = .counts,
    _ handle: @escaping Handler
  ) {
    self.access = access
    self.bodyBytes = bodyBytes
    self.fields = fields
    self.repetition = repetition
    self.method = method
    self.pattern = pattern
    self.handle = handle
  }
}

extension WebConsole {
  /// Everything that the console serves. A test asks for each of them as somebody of another account.
  static let pages: [Page] =
    doorPages + homePages + appPages + pushPages + historyPages + resultPages + chartPages + whyPages
    + devicePages + virtualDevicePages + accountPages + profilePages + settingsPages + credentialPages
    + callbackPages + groupPages + operatorPages + resetPages + auditPages + aliasPages + languagePages

  /// The paths of all pages that only show something, with names in braces: for measurements.
  public static var addresses: [String] { pages.filter { $0.method == "GET" }.map(\.pattern) }
}
