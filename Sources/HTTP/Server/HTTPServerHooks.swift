import BorealisBase
import BorealisNet

/// What the owner of an HTTP server decides besides answering requests. Everything is called on the loop's
/// thread.
package class HTTPServerHooks {
  /// Gets a complete request and answers the exchange, then or later.
  package typealias Handler = (HTTPRequest, HTTPExchange) -> Void

  /// Screens a request whose body is not small, and gets its ID and the client's address.
  package typealias Screen = (HTTPRequest, _ requestID: String, _ peer: IPAddress?) -> HTTPScreening

  let limits: HTTPServerLimits
  let peers: HTTPPeerLimit
  let metrics: HTTPServerMetrics
  var admission: HTTPAdmission
  private let refusal: (HTTPFault) -> HTTPResponse

  /// Uses TLS on connections accepted from now on; nil for plain HTTP. Setting it again renews the
  /// certificate.
  package var tls: TLSContext?
  /// Refuses requests before their bodies are read; nil accepts all of them.
  package var screen: Screen? {
    get { admission.screen }
    set { admission.screen = newValue }
  }

  /// Called on the loop's thread for requests that their handler did not answer, with method, target and the
  /// request's ID. The client gets the answer to `HTTPFault.unanswered`.
  package var unanswered: ((HTTPUnanswered, _ method: String, _ target: String, _ requestID: String) -> Void)?

  /// The answer to a refused request for a target that has answers of its own; nil leaves it to `refusal`.
  package var refusalPage: ((HTTPFault, _ target: String) -> HTTPResponse?)?

  /// Returns the client's address of a request on a connection with this peer: another one behind a proxy.
  /// Called for bodies that are not small, on the loop's thread; nil means the peer.
  package var client: ((HTTPRequest, IPAddress?) -> IPAddress?)? {
    get { admission.client }
    set { admission.client = newValue }
  }

  /// Asked before `screen`, and in its place if it returns true: then the answer comes through the inquiry.
  /// Gets what a screen gets, on the loop's thread. Requests to upgrade to a WebSocket are left out.
  package var inquire: ((HTTPRequest, _ requestID: String, _ peer: IPAddress?, HTTPInquiry) -> Bool)?

  /// Says that peers are trusted and pass on requests of others: their connections make room for no others
  /// while they are open, and what is known of one request says nothing about the next one. Set before the
  /// first connection.
  package var peersActForOthers: Bool {
    get { admission.peersActForOthers }
    set { admission.peersActForOthers = newValue }
  }

  /// Decides, on the loop's thread, whether a peer may stay after its TLS handshake; nil accepts all.
  package var admits: ((TLSSession) -> Bool)?

  /// Called for each answer of a handler, on the loop's thread, before it is sent.
  package var completeAnswer: ((inout HTTPResponse) -> Void)?

  /// Called first for every request, on the loop's thread; nil leaves it to the handler. The address is the
  /// peer's. Not called while more than a little is queued for sending: a request to upgrade is refused then.
  package var upgrade: ((HTTPRequest, IPAddress?) -> HTTPUpgrade?)?

  /// Sent before this side closes an idle connection; nil closes it in silence. A request may be under way
  /// just then: one that meets this answer was not seen by a handler. Only for peers that expect it.
  package var farewell: HTTPResponse?

  init(
    _ limits: HTTPServerLimits, _ peers: HTTPPeerLimit, _ memory: HTTPMemory, _ metrics: HTTPServerMetrics,
    _ tls: TLSContext?, _ refusal: @escaping (HTTPFault) -> HTTPResponse
  ) {
    (self.limits, self.peers, self.metrics, self.tls, self.refusal) = (limits, peers, metrics, tls, refusal)
    admission = HTTPAdmission(limits: limits, peers: peers, memory: memory)
  }

  /// The answer to a request that does not reach its handler, or gets none from it.
  func answer(to fault: HTTPFault, of target: String) -> HTTPResponse {
    var response = refusalPage?(fault, target) ?? refusal(fault)
    if fault == .busy || fault == .unserved, response.headers["retry-after"] == nil {
      response.headers.append("Retry-After", "2")
    }
    return response
  }

  /// The answer to a request that its handler did not answer.
  func stopgap(for reason: HTTPUnanswered, _ work: HTTPWork) -> HTTPResponse {
    metrics.unansweredRequests.add()
    let (method, target) = (work.parser.latestMethod, work.parser.latestTarget)
    unanswered?(reason, method, target, work.requestID)
    return answer(to: .unanswered, of: target)
  }

  static func second(_ nanoseconds: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: nanoseconds / 1_000_000_000)
  }
}
