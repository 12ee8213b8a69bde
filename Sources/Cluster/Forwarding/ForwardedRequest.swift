import BorealisBase
import HTTP

/// A request as it goes from the node that took it to the home, and what it says about its client.
///
/// The home's handlers get the request that they would have got from the client itself: all fields in order
/// but those that belong to a connection (RFC 9110 section 7.6.1). What the home must know besides is in
/// fields of its own, whose names no request of a client keeps.
struct ForwardedRequest: Equatable {
  /// What the home is asked for.
  enum Purpose: Equatable {
    /// To serve the request.
    case serving
    /// To screen it by its header, without its body.
    case screening
    /// To say that it takes requests of this node.
    case hello
  }

  var request: HTTPRequest
  var requestID: String
  var client: IPAddress?
  var isSecure: Bool
  var purpose = Purpose.serving
  /// The app that it names, if the node that took it has looked: the home may have to know before the body
  /// has come.
  var app: AppKey?

  private static let own = "borealis-node-"
  private static let versionName = "borealis-node-request"
  private static let version = "1"
  private static let clientName = "borealis-node-client"
  private static let secureName = "borealis-node-tls"
  private static let methodName = "borealis-node-method"
  private static let screenName = "borealis-node-screen"
  private static let appName = "borealis-node-app"
  private static let helloName = "borealis-node-hello"
  private static let noLength = "none"

  /// The first request on a connection, which is answered once the home has accepted the node's certificate:
  /// with TLS 1.3 the one who connects cannot tell that from the handshake.
  static let hello = Array(
    "GET / HTTP/1.1\r\n\(versionName): \(version)\r\n\(helloName): 1\r\nhost: \r\n\r\n".utf8)

  /// Whether a field is one that nodes tell each other, and clients may not send.
  static func isOwn(_ name: String) -> Bool { name.hasPrefix(own) }

  /// What the node that took the request sends: header and body.
  var encoded: (head: [UInt8], body: [UInt8]) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(1024)
    // The body is needed to know its length.
    let method = request.method == "HEAD" ? "GET" : request.method
    bytes += "\(method) \(request.target) HTTP/1.1\r\n".utf8
    func add(_ name: String, _ value: String) {
      bytes += name.utf8
      bytes += ": ".utf8
      bytes += value.utf8
      bytes += "\r\n".utf8
    }
    add(Self.versionName, Self.version)
    if let client { add(Self.clientName, client.text) }
    if isSecure { add(Self.secureName, "1") }
    if let app { add(Self.appName, app.text) }
    if method != request.method { add(Self.methodName, request.method) }
    if purpose == .screening {
      add(Self.screenName, request.headers["content-length"] ?? Self.noLength)
    }
    var hasHost = false
    var hasLength = false
    let dropped = Self.connectionFields(of: request.headers)
    for field in request.headers.fields where !dropped.contains(field.name) && !Self.isOwn(field.name) {
      switch field.name {
      case "x-request-id": continue
      case "content-length":
        guard purpose == .serving else { continue }
        hasLength = true
      case "host": hasHost = true
      default: break
      }
      add(field.name, field.value)
    }
    add("x-request-id", requestID)
    // HTTP/1.0 has no need of one; an empty one names no particular host (RFC 9112 section 3.3).
    if !hasHost { add("host", "") }
    if !hasLength, purpose == .serving, !request.body.isEmpty {
      add("content-length", String(request.body.count))
    }
    bytes += "\r\n".utf8
    return (bytes, purpose == .serving ? request.body : [])
  }

  /// Reads a request as it came; nil if no node has sent it.
  init?(received request: HTTPRequest) {
    guard request.headers[Self.versionName] == Self.version else { return nil }
    var request = request
    if let method = request.headers[Self.methodName] { request.method = method }
    client = request.headers[Self.clientName].flatMap { IPAddress($0) }
    isSecure = request.headers[Self.secureName] != nil
    app = request.headers[Self.appName].flatMap { AppKey($0) }
    requestID = request.headers["x-request-id"] ?? ""
    if request.headers[Self.helloName] != nil { purpose = .hello }
    if let length = request.headers[Self.screenName] {
      purpose = .screening
      request.headers.removeAll { $0.name == "content-length" }
      if length != Self.noLength { request.headers.append("content-length", length) }
    }
    request.headers.removeAll { Self.isOwn($0.name) }
    self.request = request
  }

  /// The client's address in a request that came from a node.
  static func client(of request: HTTPRequest) -> IPAddress? {
    request.headers[clientName].flatMap { IPAddress($0) }
  }

  init(
    _ request: HTTPRequest, requestID: String, client: IPAddress?, isSecure: Bool, purpose: Purpose
  ) {
    self.request = request
    self.requestID = requestID
    self.client = client
    self.isSecure = isSecure
    self.purpose = purpose
  }

  /// The names of the fields that are for the next hop alone (RFC 9110 section 7.6.1), and of those about how
  /// the body comes, which is complete by now. `Host` and `Content-Length` describe the request itself.
  static func connectionFields(of headers: HTTPHeaders) -> Set<String> {
    var names: Set<String> = [
      "connection", "proxy-connection", "keep-alive", "te", "transfer-encoding", "upgrade", "expect",
    ]
    for list in headers.values("connection") {
      for option in list.split(separator: ",") {
        let name = option.filter { $0 != " " && $0 != "\t" }.lowercased()
        if name != "host", name != "content-length" { names.insert(name) }
      }
    }
    return names
  }
}

/// What the home answers a node besides what is for the client.
enum HomeAnswer: Equatable {
  /// The answer to the request, to be passed on.
  case served(HTTPResponse)
  /// The node is not the home: the request was certainly not carried out.
  case notHome
  /// The body may come.
  case admitted(bodyBytes: Int, isKnown: Bool)

  private static let name = "borealis-node-answer"
  private static let knownName = "borealis-node-known"

  /// The answer of a node that is not the home.
  static let misdirected = HTTPResponse(status: 421, headers: ["borealis-node-answer": "not-home"])

  /// The answer to a greeting.
  static let greeting = HTTPResponse(status: 204, headers: ["borealis-node-answer": "hello"])

  /// Whether an answer is that to a greeting.
  static func isGreeting(_ response: HTTPResponse) -> Bool {
    response.status == 204 && response.headers[name] == "hello"
  }

  /// The answer to a request to screen.
  static func screened(_ screening: HTTPScreening) -> HTTPResponse {
    switch screening {
    case .refused(var response):
      mark(&response)
      return response
    case .admitted(let bodyBytes, let isKnown):
      let words = "admitted \(bodyBytes) \(isKnown ? "known" : "unknown")"
      return HTTPResponse(status: 204, headers: ["borealis-node-answer": words])
    }
  }

  /// Says in the fields what else a handler has said about its client.
  static func mark(_ response: inout HTTPResponse) {
    if response.isToKnownCaller { response.headers.append(knownName, "1") }
  }

  /// Reads an answer. What the node that took the request writes itself, as for its own answers, is left out.
  init(_ received: HTTPResponse) {
    if let words = received.headers[Self.name]?.split(separator: " ") {
      if received.status == 421, words == ["not-home"] {
        self = .notHome
        return
      }
      if words.count == 3, words[0] == "admitted", let bytes = Int(words[1]) {
        self = .admitted(bodyBytes: bytes, isKnown: words[2] == "known")
        return
      }
    }
    var response = received
    response.isToKnownCaller = received.headers[Self.knownName] != nil
    let dropped = ForwardedRequest.connectionFields(of: received.headers).union([
      "content-length", "date", "x-request-id", "strict-transport-security",
    ])
    response.headers.removeAll { dropped.contains($0.name) || ForwardedRequest.isOwn($0.name) }
    self = .served(response)
  }
}
