/// What happens to a request whose body is not small.
public enum HTTPScreening: Sendable {
  /// It is answered at once. If the body has not come whole, it is dropped as it comes, and the connection closes.
  case refused(HTTPResponse)
  /// The body may come, if it has no more bytes than this. Whoever sends it is known, or may turn out to be nobody.
  case admitted(bodyBytes: Int, isKnown: Bool)
}
