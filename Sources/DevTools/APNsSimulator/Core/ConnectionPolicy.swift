/// How connections fare, apart from single requests.
struct ConnectionPolicy: Sendable, Equatable {
  /// Streams at once after the first authenticated request, and with a certificate from the start.
  var streams: UInt32 = 1000
  /// A refusal with 4xx other than 410 cuts the limit to 1 until the next push is accepted, as was seen of
  /// Apple.
  var limitsAfterRefusal = false
  /// The number of such refusals on one connection before it gets a GOAWAY and ends; nil for no limit.
  var refusalsBeforeClose: Int?
  /// Seconds without a request before a GOAWAY with the reason IdleTimeout; nil forever.
  var idleSeconds: Int?
}
