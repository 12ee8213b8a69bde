import BorealisBase
import HTTP
import Storage

/// A path of the console, and who may use it.
struct Page: Sendable {
  /// Who may use a page.
  enum Access: Sendable, Equatable {
    /// Everybody.
    case open
    /// Logged-in users.
    case person
    /// Operators.
    case operators
    /// Members of the account in the path with at least this role.
    case account(Role)
    /// Members, with at least this role, of the account that owns the app in the path.
    case app(Role)
  }

  /// The result of a form that the browser sends twice.
  enum Repetition: Sendable, Equatable {
    /// It is done again.
    case counts
    /// Nothing is done; the page above its path is shown, or that of its own path.
    case showsPageAbove, showsPage
  }

  let access: Access
  let method: String
  /// The path; segments in braces are captures.
  let pattern: String
  /// Bytes that the body may have; it is read on an event loop.
  let bodyBytes: Int
  /// Fields that its form may have.
  let fields: Int
  let repetition: Repetition

  init(
    _ access: Access, _ method: String, _ pattern: String, body bodyBytes: Int?, fields: Int,
    again repetition: Repetition
  ) {
    self.access = access
    self.bodyBytes = bodyBytes ?? (access == .open || method == "GET" ? 8 << 10 : 128 << 10)
    self.fields = fields
    self.repetition = repetition
    self.method = method
    self.pattern = pattern
  }
}

/// A page, and what answers its requests: a function of a controller. What it refuses from within it throws
/// as `Refused`.
struct Route<Owner: Sendable>: Sendable {
  typealias Handler = @Sendable (Owner, PageCall) async throws -> HTTPResponse

  let page: Page
  let handle: Handler

  init(
    _ access: Page.Access, _ method: String, _ pattern: String, body bodyBytes: Int? = nil,
    fields: Int = HTTPTarget.mostItems, again repetition: Page.Repetition = .counts,
    _ handle: @escaping Handler
  ) {
    page = Page(access, method, pattern, body: bodyBytes, fields: fields, again: repetition)
    self.handle = handle
  }
}

/// Serves the pages of one feature with the services that it needs.
protocol Controller: Sendable {
  static var routes: [Route<Self>] { get }
}

/// A page with what answers its requests.
struct ServedPage: Sendable {
  let page: Page
  let answer: @Sendable (PageCall) async -> HTTPResponse
}

extension Controller {
  static var pages: [Page] { routes.map(\.page) }

  /// Its pages as they are served.
  var served: [ServedPage] {
    Self.routes.map { route in
      ServedPage(page: route.page) { call in
        do {
          return try await route.handle(self, call)
        } catch {
          // Nothing else is thrown.
          return (error as? Refused)?.answer ?? call.unavailable
        }
      }
    }
  }
}

/// The addresses of the console.
enum SiteMap {
  private static let table: RouteTable<Page> = {
    var table = RouteTable<Page>()
    for page in ConsoleRegistry.pages { table.add(page.method, page.pattern, page) }
    return table
  }()

  /// Whether a path has a page.
  static func hasPage(_ path: String) -> Bool {
    guard let target = HTTPTarget(path), case .found = table.match("GET", target.path) else { return false }
    return true
  }

  /// The nearest page above a path: for those who come with a path that only forms have.
  static func pageAbove(_ call: PageCall) -> String {
    var path = call.path[...]
    while let slash = path.lastIndex(of: "/") {
      path = path[..<slash]
      if hasPage(String(path)) { return String(path) }
    }
    return "/console/"
  }

  /// An address of one of the console's pages, as it may stand behind a redirect; nil for anything else.
  static func ownPlace(_ address: String) -> String? {
    guard address.hasPrefix("/console"), address.utf8.count <= 2000,
      address.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "\\") }), hasPage(address),
      !address.hasPrefix("/console/login"), !address.hasPrefix("/console/assets/")
    else { return nil }
    return address
  }
}

extension PageCall {
  /// The page to return to after login; nil for the first page.
  var placeAfterLogin: String? { (form?["next"] ?? target["next"]).flatMap(SiteMap.ownPlace) }

  /// What the visitor does, for the transaction that does it.
  func entry(_ action: String, _ target: String, by visitor: Visitor, app: AppID? = nil) -> AuditRow {
    AuditRow(
      at: now, account: account, app: app, person: visitor.person.id, who: visitor.person.signature,
      action: action, target: target, address: peer)
  }
}
