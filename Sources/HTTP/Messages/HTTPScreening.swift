/// What happens to a request whose body is not small.
package enum HTTPScreening: Sendable {
  /// It is answered immediately. If the body is incomplete, the rest is dropped as it arrives, and the
  /// connection closes.
  case refused(HTTPResponse)
  /// The body is read if it has no more bytes than this. The sender is authenticated, or not yet checked.
  case admitted(bodyBytes: Int, isKnown: Bool)
}
