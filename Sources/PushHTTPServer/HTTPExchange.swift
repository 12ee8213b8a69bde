import Glibc
import PushBase
import PushHTTP
import PushNet
import Synchronization

/// The handle on one request that waits for its answer. Any thread may hold it.
public struct HTTPExchange: Sendable {
  /// The value of the answer's `X-Request-Id`: the client's own, or a generated one.
  public let requestID: String
  /// Where the connection comes from; nil if that is no IP address.
  public let peer: IPAddress?
  /// Index of the loop that owns the connection.
  public let loop: Int

  let token: ConnectionToken
  let number: UInt32
  /// The place of the request's body if it is a large one: taken as long as somebody works on the request.
  let largeBody: LargeBodies.Place?
  let answers: HTTPAnswers

  /// Answers the request, from any thread, once; later answers are dropped, as are those to a connection that is gone.
  /// Quickest within the handler, where the answer needs no wake-up.
  public func respond(_ response: HTTPResponse) {
    answers.post(HTTPAnswers.Answer(token: token, number: number, response: response))
  }
}

/// Answers on their way to the loop that owns their connections.
final class HTTPAnswers: Sendable {
  struct Answer: Sendable {
    let token: ConnectionToken
    let number: UInt32
    let response: HTTPResponse
  }

  private let mailbox: Mailbox<Answer>
  /// The loop's thread while it runs a handler, else 0. Only that thread can find itself here.
  private let handlingThread = Atomic<UInt>(0)
  private let immediate = Mutex<Answer?>(nil)

  init(of handle: LoopHandle) { mailbox = Mailbox(of: handle) }

  func post(_ answer: Answer) {
    if handlingThread.load(ordering: .relaxed) == pthread_self() {
      let isTaken = immediate.withLock { immediate in
        guard immediate == nil else { return false }
        immediate = answer
        return true
      }
      if isTaken { return }
    }
    mailbox.post(answer)
  }

  /// Takes what came by mail.
  func drain() -> [Answer] { mailbox.drain() }

  /// Runs a handler on the loop's thread and returns the answer that it gave before it returned; of several the first,
  /// the others go by mail.
  func handling(_ body: () -> Void) -> Answer? {
    handlingThread.store(pthread_self(), ordering: .relaxed)
    body()
    handlingThread.store(0, ordering: .relaxed)
    return immediate.withLock { immediate in
      defer { immediate = nil }
      return immediate
    }
  }
}
