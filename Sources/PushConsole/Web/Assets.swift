import PushBase
import PushCrypto
import PushHTTP

/// The console's own files. Their addresses change with their contents, so that browsers may keep them forever.
enum Assets {
  struct Asset: Sendable {
    let type: String
    let body: [UInt8]
    let version: String

    init(_ type: String, _ text: String) {
      self.type = type
      body = Array(text.utf8)
      version = String(Hex.encode(SHA256.digest(body)).prefix(12))
    }
  }

  private static let all: [String: Asset] = [
    "console.css": Asset("text/css; charset=utf-8", embeddedFiles["console.css"] ?? ""),
    "console.js": Asset("text/javascript; charset=utf-8", embeddedFiles["console.js"] ?? ""),
    "device.js": Asset("text/javascript; charset=utf-8", embeddedFiles["device.js"] ?? ""),
    "virtual.js": Asset("text/javascript; charset=utf-8", embeddedFiles["virtual.js"] ?? ""),
    "icon.svg": Asset("image/svg+xml", embeddedFiles["icon.svg"] ?? ""),
  ]

  /// Where a file is.
  static func path(_ name: String) -> String { "/console/assets/\(all[name]?.version ?? "0")/\(name)" }

  /// Serves a file; also under the version of an older or a newer page, whose file is not available. It is not cached
  /// then, since the other version may come back.
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
}

/// Files that pages refer to.
struct AssetPages: Controller {
  static let routes: [Route<AssetPages>] = [
    Route(.open, "GET", "/console/assets/{version}/{name}") { Assets.serve($1) }
  ]
}
