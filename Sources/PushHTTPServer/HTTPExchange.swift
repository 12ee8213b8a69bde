import PushHTTP
import PushNet

/// The handle on one request that waits for its answer. Any thread may hold it.
public struct HTTPExchange: Sendable {
  /// The value of the answer's `X-Request-Id`: the client's own, or a generated one.
  public let requestID: String
  /// Index of the loop that owns the connection.
  public let loop: Int

  let token: ConnectionToken
  let number: UInt32
  let mailbox: Mailbox<Answer>

  struct Answer: Sendable {
    let token: ConnectionToken
    let number: UInt32
    let response: HTTPResponse
  }

  /// Answers the request, from any thread, once; later answers are dropped, as are those to a connection that is gone.
  /// On the loop's own thread `HTTPServer.respond` is quicker.
  public func respond(_ response: HTTPResponse) {
    mailbox.post(Answer(token: token, number: number, response: response))
  }
}
