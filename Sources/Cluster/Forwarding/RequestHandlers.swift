import BorealisBase
import HTTP

/// What serves requests on a loop of the home, whoever has taken them.
package struct RequestHandlers {
  /// Serves a complete request and answers the exchange; `isSecure` says that the client used TLS.
  package var handle: (HTTPRequest, HTTPExchange, _ isSecure: Bool) -> Void
  /// Screens a request whose body is not small, by its header.
  package var screen:
    (HTTPRequest, _ requestID: String, _ peer: IPAddress?, _ isSecure: Bool) -> HTTPScreening

  /// Puts the two together.
  package init(
    handle: @escaping (HTTPRequest, HTTPExchange, _ isSecure: Bool) -> Void,
    screen:
      @escaping (HTTPRequest, _ requestID: String, _ peer: IPAddress?, _ isSecure: Bool) -> HTTPScreening
  ) {
    self.handle = handle
    self.screen = screen
  }
}
