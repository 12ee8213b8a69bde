import HTTP
import Model
import Synchronization

/// Connections to an APNs environment with one credential: an `HTTP2Pool` with Apple's requests and
/// responses. Safe to use from any thread. With `presentsCertificate` the client's certificate authenticates
/// requests; otherwise nothing is sent before the authorization is set.
///
///     let pool = APNsPool(on: address, configuration, source: source)
///     pool.setAuthorization(Array("bearer \(token)".utf8))
///     pool.wake()      // call whenever the source has requests after it had none
package final class APNsPool: Sendable {
  /// What threads and the loop share.
  private final class Shared: Sendable {
    /// The value of `authorization`.
    let authorization = Mutex<[UInt8]>([])
    /// Until it has closed the pool stays, also if nobody holds it.
    let pool = Mutex<APNsPool?>(nil)
  }

  private let shared = Shared()
  private let pool: HTTP2Pool

  /// Starts a pool on a loop that has an `HTTP2Driver`. It retains its source until it has closed.
  package init(
    on address: HTTP2Driver.Address, _ configuration: HTTP2PoolConfiguration, source: any APNsSource
  ) {
    let shared = shared
    pool = HTTP2Pool(on: address, configuration) { Requests(configuration, shared, source) }
    shared.pool.withLock { $0 = self }
  }

  /// Tells the pool that the source has requests. Connects if there is no connection.
  package func wake() { pool.wake() }

  /// Sets the value of `authorization`, `bearer ` and the JWT, for all requests taken from now on.
  package func setAuthorization(_ value: [UInt8]) {
    shared.authorization.withLock { $0 = value }
    pool.noteChange()
  }

  /// Takes nothing from the source until `resume`; requests in flight continue.
  package func pause() { pool.pause() }

  /// Ends a pause.
  package func resume() { pool.resume() }

  /// Moves to new connections; existing ones end after their last response. Needed after the team got a new
  /// topic, which open connections do not know, or a key of another kind.
  package func renewConnections() { pool.renewConnections() }

  /// Withdraws requests by their tags: those that have not been given to the socket come back as not sent.
  /// The others are unaffected.
  package func recall(_ tags: [UInt64]) { pool.recall(tags) }

  /// Closes the pool permanently: after pending responses, or immediately, with unknown results for requests
  /// in flight. The source gets `.closed` when it is done.
  package func close(drain: Bool) { pool.close(drain: drain) }

  /// The pool as it was at the end of its loop's last turn.
  package var status: HTTP2PoolStatus { pool.status }

  /// What the pool sends and what it hears, on the loop.
  private final class Requests: HTTP2PoolSource {
    private let usesToken: Bool
    private let shared: Shared
    private let source: any APNsSource
    private var fields: RequestFields

    init(_ configuration: HTTP2PoolConfiguration, _ shared: Shared, _ source: any APNsSource) {
      usesToken = !configuration.presentsCertificate
      self.shared = shared
      self.source = source
      fields = RequestFields(host: configuration.host)
    }

    var maySubmit: Bool { !usesToken || shared.authorization.withLock { !$0.isEmpty } }

    func submit(upTo count: Int, areScarce: Bool, to connection: HTTP2ClientConnection) -> Int {
      let requests = source.popRequests(upTo: count, areScarce: areScarce)
      guard !requests.isEmpty else { return 0 }
      let authorization = shared.authorization.withLock { $0 }
      for request in requests {
        fields.fill(request, authorization: authorization)
        connection.submit(tag: request.tag, fields.list, body: request.payload)
      }
      return requests.count
    }

    func answered(_ results: [HTTP2ResultEntry]) {
      source.answered(results.map { APNsResultEntry(tag: $0.tag, result: APNsResult($0.result)) })
    }

    func isUseless(after response: HTTP2Response) -> Bool {
      guard response.status != 200 else { return false }
      switch APNsAnswer(response).knownReason {
      // Such a connection responds the same, or nothing, for a long time.
      case .expiredProviderToken, .tooManyProviderTokenUpdates, .unrelatedKeyIdInToken, .idleTimeout,
        .shutdown:
        return true
      default: return false
      }
    }

    func isRefusal(goAway message: String) -> Bool { APNsOutcome(goAway: message) != nil }

    func noticed(_ event: HTTP2PoolEvent) {
      source.noticed(event)
      if event == .closed { shared.pool.withLock { $0 = nil } }
    }
  }
}

extension APNsResult {
  init(_ result: HTTP2Result) {
    switch result {
    case .answered(let response):
      let uniqueID = response.headers.text("apns-unique-id").map { String($0.prefix(64)) }
      self = .answered(APNsAnswer(response), uniqueID: uniqueID)
    case .notSent: self = .notSent
    case .refused: self = .refused
    case .unknown: self = .unknown
    }
  }
}

extension APNsAnswer {
  init(_ response: HTTP2Response) {
    self =
      response.status == 200
      ? APNsAnswer(status: 200) : APNsAnswer(status: response.status, body: response.body)
    retryAfter = response.headers.text("retry-after").flatMap { Int64($0) }.map {
      min(max($0, 0), RetrySchedule.longestAsked)
    }
  }
}
