import BorealisBase
import BorealisCrypto
import BorealisNet
import Core
import Model
import Storage
import Synchronization

/// The addresses of APNs, and which certificates to trust.
package struct APNsHosts: Sendable {
  /// The address of an APNs environment.
  package struct Host: Hashable, Sendable {
    /// The host name, which the certificate must contain.
    package let name: String
    package let port: UInt16

    /// Makes an address.
    package init(_ name: String, _ port: UInt16) {
      self.name = name
      self.port = port
    }
  }

  /// For App Store, TestFlight and ad-hoc builds.
  package var production = Host("api.push.apple.com", 443)
  /// For builds started from Xcode.
  package var sandbox = Host("api.sandbox.push.apple.com", 443)
  /// The trusted certificates.
  package var trust = TLSTrust.system
  /// The proxy that connections go through; nil for none.
  package var proxy: OutgoingProxy?

  /// Apple's own.
  package init() {}

  func host(for environment: APNsEnvironment) -> Host { environment == .sandbox ? sandbox : production }
}

/// The state that all queues and dispatchers share.
final class APNsParts: Sendable {
  let store: Store
  let router: Router
  let credentials: CredentialStore
  let keys: CredentialKeys
  let queues = QueueTable()
  let checks: CredentialChecks<APNsCredentialID>
  let metrics: APNsMetrics
  let time: any TimeSource
  let log: Log

  init(
    store: Store, router: Router, credentials: CredentialStore,
    keys: CredentialKeys = CredentialKeys(open: { .failure(.init("there is no key")) }), metrics: APNsMetrics,
    time: any TimeSource, log: Log
  ) {
    self.keys = keys
    self.store = store
    checks = CredentialChecks(time: time)
    self.router = router
    self.credentials = credentials
    self.metrics = metrics
    self.time = time
    self.log = log
  }
}

/// The queues of all apps.
final class QueueTable: Sendable {
  private let queues = Mutex<[AppID: APNsQueue]>([:])

  var all: [APNsQueue] { queues.withLock { Array($0.values) } }

  func remove(_ app: AppID) -> APNsQueue? { queues.withLock { $0.removeValue(forKey: app) } }

  func find(_ app: AppID) -> APNsQueue? { queues.withLock { $0[app] } }

  /// The queue of an app, created if there is none; also returns whether it was created.
  func queue(of app: App, _ parts: APNsParts) -> (queue: APNsQueue, isNew: Bool) {
    queues.withLock { queues in
      if let known = queues[app.id] { return (known, false) }
      let new = APNsQueue(app: app, parts: parts)
      queues[app.id] = new
      return (new, true)
    }
  }
}

/// Counters of requests to APNs and their results.
final class APNsMetrics: Sendable {
  let tokensRetired: Counter
  private let results = Mutex<[String: UInt64]>([:])

  init(_ metrics: Metrics) {
    tokensRetired = metrics.counter("borealis_apns_tokens_retired_total")
    metrics.computed("borealis_apns_results_total", isCounter: true) { [self] in
      results.withLock { $0.map { (labels: "result=\"\($0.key)\"", value: Double($0.value)) } }
        .sorted { $0.labels < $1.labels }
    }
  }

  func count(_ result: APNsResult) {
    let name =
      switch result {
      case .notSent: "not_sent"
      case .refused: "refused_stream"
      case .unknown: "unknown"
      case .answered(let answer, _):
        answer.status == 200 ? "delivered" : answer.knownReason?.rawValue ?? "status_\(answer.status)"
      }
    results.withLock { $0[name, default: 0] += 1 }
  }
}
