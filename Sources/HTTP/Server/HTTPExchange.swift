import BorealisBase
import BorealisNet
import Glibc
import Synchronization

/// The handle on one request that waits for its answer. Any thread may hold it.
///
/// Each request is answered exactly once, whatever its handler does. A handler whose answer is a value cannot
/// forget it: `respond(with:)` takes an asynchronous function of the request. One that answers in callbacks
/// calls `respond(_:)`; if the last copy of the exchange is released without an answer, or after
/// `HTTPServerLimits.answerSeconds`, the client gets 503. Both are counted and passed to
/// `HTTPServer.unanswered`, which logs the route. A second answer is dropped and counted.
package struct HTTPExchange: Sendable {
  /// The value of the answer's `X-Request-Id`: the client's own, or a generated one.
  package let requestID: String
  /// The peer's address; nil if it is not an IP address.
  package let peer: IPAddress?
  /// Index of the loop that owns the connection.
  package let loop: Int
  /// Whether the sender, or an earlier one on the connection, is authenticated.
  package let isKnown: Bool

  let duty: AnswerDuty

  /// The same for a request of another client, which the peer has passed on.
  package func passedOn(from client: IPAddress?) -> HTTPExchange {
    HTTPExchange(requestID: requestID, peer: client, loop: loop, isKnown: isKnown, duty: duty)
  }

  /// Answers the request, from any thread, once; later answers are dropped, as are those to a connection that
  /// is gone. Quickest within the handler, where the answer needs no wake-up.
  package func respond(_ response: HTTPResponse) {
    duty.isDone.store(true, ordering: .relaxed)
    duty.answers.post(HTTPAnswers.Answer(token: duty.token, number: duty.number, response: response))
  }

  /// Answers with the result of a handler that may wait for other threads. It runs outside of the loop; if
  /// the answer is available immediately, `respond(_:)` is cheaper.
  package func respond(with handler: @escaping @Sendable () async -> HTTPResponse) {
    Task { respond(await handler()) }
  }
}

/// The shared part of all copies of an exchange: releasing the last copy answers a request that has no answer
/// yet.
final class AnswerDuty: Sendable {
  let token: ConnectionToken
  let number: UInt32
  let answers: HTTPAnswers
  let isDone = Atomic(false)
  /// The memory that a large body holds while the request is handled.
  private let share: HTTPMemory.Share?

  init(token: ConnectionToken, number: UInt32, share: HTTPMemory.Share?, answers: HTTPAnswers) {
    (self.token, self.number, self.share, self.answers) = (token, number, share, answers)
  }

  deinit {
    guard !isDone.load(ordering: .relaxed) else { return }
    answers.post(HTTPAnswers.Answer(token: token, number: number, response: nil))
  }
}

/// Why a handler did not answer a request.
package enum HTTPUnanswered: String, Sendable {
  /// It took longer than `HTTPServerLimits.answerSeconds`.
  case late
  /// It released the exchange.
  case forgotten
}

/// Answers for the loop that owns their connections.
final class HTTPAnswers: Sendable {
  struct Answer: Sendable {
    let token: ConnectionToken
    let number: UInt32
    /// Nil if there will be none.
    let response: HTTPResponse?
  }

  private let mailbox: Mailbox<Answer>
  /// Answers of inquiries.
  let screenings: Mailbox<HTTPInquiry.Answer>
  /// The loop's thread while it runs a handler, else 0.
  private let handlingThread = Atomic<UInt>(0)
  private let immediate = Mutex<Answer?>(nil)

  init(of handle: LoopHandle) {
    mailbox = Mailbox(of: handle)
    screenings = Mailbox(of: handle)
  }

  func post(_ answer: Answer) {
    if handlingThread.load(ordering: .relaxed) == pthread_self() {
      let isImmediate = immediate.withLock { immediate in
        guard immediate == nil else { return false }
        immediate = answer
        return true
      }
      if isImmediate { return }
    }
    mailbox.post(answer)
  }

  /// Removes and returns the answers in the mailbox.
  func drain() -> [Answer] { mailbox.drain() }

  /// Runs a handler on the loop's thread and returns the answer that it gave before it returned, of several
  /// the first; the others go to the mailbox.
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
