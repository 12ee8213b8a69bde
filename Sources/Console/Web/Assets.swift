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
  }

  private static let all: [String: Asset] = [
    "console.css": Asset("text/css; charset=utf-8", embeddedFiles["console.css"] ?? ""),
    "console.js": script(embeddedFiles["console.js"]), "virtual.js": script(embeddedFiles["virtual.js"]),
    "borealis.js": pageScript,
    "icon.svg": Asset("image/svg+xml", embeddedFiles["icon.svg"] ?? ""),
  ]

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

  /// Serves a classic script to any site.
  static func serveToSites(_ call: PageCall) -> HTTPResponse { serve(siteFiles, call) }

  /// Serves a file of the library for browsers.
  static func servePackage(_ call: PageCall) -> HTTPResponse { serve(packageFiles, call) }

  /// Pages name no version, so browsers ask each time.
  private static func serve(_ files: [String: Asset], _ call: PageCall) -> HTTPResponse {
    guard let asset = files[call.capture("name") ?? ""] else { return call.missing }
    let tag = "\"\(asset.version)\""
    let isKnown = call.request.headers["if-none-match"] == tag
    var response = HTTPResponse(
      status: isKnown ? 304 : 200,
      headers: ["Content-Type": asset.type, "Cache-Control": "no-cache", "ETag": tag],
      body: isKnown ? [] : asset.body)
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
    Route(.open, "GET", "/web/{name}") { Assets.serveToSites($1) },
    Route(.open, "GET", "/sdk/web/{name}") { Assets.servePackage($1) },
  ]
}
