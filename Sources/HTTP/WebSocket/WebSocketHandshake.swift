import BorealisBase
import BorealisCrypto

/// The server's part of the opening handshake (RFC 6455 section 4.2).
package enum WebSocketHandshake {
  /// Why a handshake is refused; the text is for logs and metrics.
  package enum Refusal: String, Error, Equatable, Sendable, CaseIterable {
    /// It asks for something else than WebSocket, or of HTTP/1.0.
    case notAsked = "not_asked"
    /// Not GET.
    case wrongMethod = "wrong_method"
    /// A version other than 13, or several.
    case wrongVersion = "wrong_version"
    /// No key, several, or one that is not 16 bytes in base64.
    case badKey = "bad_key"
    /// It has a body.
    case hasBody = "has_body"
    /// A page of an origin that may not connect.
    case foreignOrigin = "foreign_origin"

    /// The answer.
    package var response: HTTPResponse {
      let (status, text, fields): (Int, String, HTTPHeaders) =
        switch self {
        case .notAsked: (426, "This is for WebSocket.", ["Upgrade": "websocket"])
        case .wrongMethod: (405, "WebSocket begins with GET.", ["Allow": "GET"])
        case .wrongVersion:
          (426, "This is for version 13.", ["Upgrade": "websocket", "Sec-WebSocket-Version": "13"])
        case .badKey: (400, "One Sec-WebSocket-Key of 16 bytes in base64 is needed.", [:])
        case .hasBody: (400, "A handshake has no body.", [:])
        case .foreignOrigin: (403, "Pages of this origin may not connect.", [:])
        }
      var response = HTTPResponse(status: status, headers: fields, body: Array((text + "\n").utf8))
      response.headers.append("Content-Type", "text/plain; charset=utf-8")
      return response
    }
  }

  private static let magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  /// Checks a request and makes the answer that opens the WebSocket. Offered extensions and subprotocols are
  /// ignored.
  package static func answer(
    to request: HTTPRequest, origins: OriginRule
  ) throws(Refusal) -> HTTPResponse {
    let headers = request.headers
    guard request.minorVersion > 0, headers.lists("upgrade", "websocket"),
      headers.lists("connection", "upgrade")
    else { throw .notAsked }
    guard request.method == "GET" else { throw .wrongMethod }
    guard headers.values("sec-websocket-version") == ["13"] else { throw .wrongVersion }
    guard request.body.isEmpty, headers["transfer-encoding"] == nil else { throw .hasBody }
    let keys = headers.values("sec-websocket-key")
    guard keys.count == 1, let key = keys.first, Base64.decode(key.utf8)?.count == 16 else { throw .badKey }
    let named = headers.values("origin")
    guard named.count < 2, origins.allows(named.first, host: headers["host"]) else { throw .foreignOrigin }
    return HTTPResponse(
      status: 101, headers: ["Upgrade": "websocket", "Sec-WebSocket-Accept": accept(key)])
  }

  /// What proves to the client that a key was read: the base64 form of a digest.
  static func accept(_ key: String) -> String { Base64.encode(SHA1.digest(Array((key + magic).utf8))) }
}
