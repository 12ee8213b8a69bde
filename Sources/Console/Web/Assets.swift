import BorealisBase
import BorealisCrypto
import HTTP

/// The console's own files. Their addresses change with their contents, so that browsers may keep them
/// forever.
enum Assets {
  struct Asset: Sendable {
    let type: String
    let body: [UInt8]
    let version: String

    init(_ type: String, _ text: String) { self.init(type, Array(text.utf8)) }

    init(_ type: String, _ body: [UInt8]) {
      self.type = type
      self.body = body
      version = String(Hex.encode(SHA256.digest(body)).prefix(12))
    }

    /// An answer that browsers keep and ask about each time: without the content if they have it already.
    func revalidated(_ call: PageCall) -> HTTPResponse {
      let tag = "\"\(version)\""
      let known = call.request.headers["if-none-match"]?.split(separator: ",") ?? []
      // A proxy that compresses makes a tag a weak one, which is as good here (RFC 9110 section 13.1.2).
      let isKnown = known.contains { $0.trimmingPrefix(" ").trimmingPrefix("W/") == tag }
      return HTTPResponse(
        status: isKnown ? 304 : 200,
        headers: ["Content-Type": type, "Cache-Control": "no-cache", "ETag": tag],
        body: isKnown ? [] : body)
    }
  }

  private static let all: [String: Asset] = [
    "console.css": Asset("text/css; charset=utf-8", embeddedFiles["console.css"] ?? ""),
    "docs.css": Asset("text/css; charset=utf-8", embeddedFiles["docs.css"] ?? ""),
    "console.js": script(embeddedFiles["console.js"]), "virtual.js": script(embeddedFiles["virtual.js"]),
    "borealis.js": pageScript,
    "icon.svg": Asset("image/svg+xml", embeddedFiles["icon.svg"] ?? ""),
    "touch-icon.png": Asset("image/png", picture), "console.webmanifest": manifest,
  ]

  /// The logo as a PNG of 180 by 180: for phones' home screens, and as a favicon.
  private static let picture: [UInt8] = {
    let text = (embeddedFiles["touch-icon.txt"] ?? "").utf8.filter { $0 != UInt8(ascii: "\n") }
    return Base64.decodeAny(text) ?? []
  }()

  /// An ICO file with one entry, which is a PNG.
  private static let favicon: Asset = {
    let size = (0..<4).map { UInt8(truncatingIfNeeded: picture.count >> (8 * $0)) }
    let head = [0, 0, 1, 0, 1, 0, 180, 180, 0, 0, 1, 0, 32, 0] + size + [22, 0, 0, 0]
    return Asset("image/vnd.microsoft.icon", head + picture)
  }()

  /// What a browser shows of the console when somebody installs it (Web Application Manifest). Its icons are
  /// beside it.
  private static let manifest = Asset(
    "application/manifest+json",
    """
    {"name": "Borealis", "start_url": "/console/", "scope": "/console/", "display": "minimal-ui",
     "icons": [{"src": "icon.svg", "sizes": "any", "type": "image/svg+xml"},
      {"src": "touch-icon.png", "sizes": "180x180", "type": "image/png"}]}

    """)

  private static let pageScript = script(WebPackage.pageScript)

  /// The files for pages of other sites.
  private static let siteFiles: [String: Asset] = [
    "borealis.js": pageScript, "borealis-worker.js": script(WebPackage.workerScript),
  ]

  /// The library for browsers: its modules, and the package that has all of them.
  private static let packageFiles: [String: Asset] = {
    var files = embeddedWebFiles.filter { $0.key.hasSuffix(".js") }.mapValues { script($0) }
    files["borealis-\(WebPackage.version).tgz"] = Asset("application/gzip", WebPackage.archive)
    return files
  }()

  /// Where the console's own pages find the service worker.
  static let worker = "/web/borealis-worker.js"

  private static func script(_ text: String?) -> Asset {
    Asset("text/javascript; charset=utf-8", text ?? "")
  }

  /// Where a file is.
  static func path(_ name: String) -> String { "/console/assets/\(all[name]?.version ?? "0")/\(name)" }

  /// Serves a file; also under the version of an older or a newer page, whose file is not available. It is
  /// not cached then, since the other version may come back.
  static func serve(_ call: PageCall) -> HTTPResponse {
    guard let asset = all[call.capture("name") ?? ""] else {
      return call.missing
    }
    let isIt = call.capture("version") == asset.version
    var response = HTTPResponse(
      status: 200,
      headers: [
        "Content-Type": asset.type,
        "Cache-Control": isIt ? "public, max-age=31536000, immutable" : "no-cache",
      ], body: asset.body)
    response.isStatic = true
    return call.respond(response)
  }

  static func serveFavicon(_ call: PageCall) -> HTTPResponse {
    var response = HTTPResponse(
      status: 200, headers: ["Content-Type": favicon.type, "Cache-Control": "public, max-age=86400"],
      body: favicon.body)
    response.isStatic = true
    return call.respond(response)
  }

  /// Serves a classic script to any site.
  static func serveToSites(_ call: PageCall) -> HTTPResponse { serve(siteFiles, call) }

  /// Serves a file of the library for browsers.
  static func servePackage(_ call: PageCall) -> HTTPResponse { serve(packageFiles, call) }

  /// Pages name no version, so browsers ask each time.
  private static func serve(_ files: [String: Asset], _ call: PageCall) -> HTTPResponse {
    guard let asset = files[call.capture("name") ?? ""] else { return call.missing }
    var response = asset.revalidated(call)
    // Its scope is an app's pages, not the folder of the script.
    response.headers.append("Service-Worker-Allowed", "/")
    response.isStatic = true
    return call.respond(response, toSites: true)
  }
}

/// Files that pages refer to.
struct AssetPages: Controller {
  static let routes: [Route<AssetPages>] = [
    Route(.open, "GET", "/console/assets/{version}/{name}") { Assets.serve($1) },
    // Browsers ask for it by themselves, also beside what is not a page.
    Route(.open, "GET", "/favicon.ico") { Assets.serveFavicon($1) },
    Route(.open, "GET", "/web/{name}") { Assets.serveToSites($1) },
    Route(.open, "GET", "/sdk/web/{name}") { Assets.servePackage($1) },
  ]
}
