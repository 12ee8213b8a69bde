import BorealisBase
import BorealisCrypto
import BorealisNet
import HTTP
import Synchronization

/// Obtains the certificate from a certificate authority and renews it (Docs/decisions/0119). Its requests go
/// through a thread of their own, on which answers are handled; pauses end with `tick`. Only one process does
/// this at a time: the one that has called `start`. Safe to use from any thread.
final class CertificateRenewal: Sendable {
  private struct State: Sendable {
    var record: ACMERecord
    /// Nil while this process is not the one.
    var transport: HTTPTransport?
    var attempt: ACMEAttempt?
    var account: ACMEAccount?
    /// The private key of the certificate that is ordered.
    var key: ES256Key?
    var isSending = false
    /// When the attempt goes on, on the clock that never jumps.
    var continues: UInt64 = 0
    /// When the next attempt begins.
    var begins = Timestamp(milliseconds: 0)
  }

  /// Bytes of a chain of certificates.
  private static let mostBytes = 128 << 10
  private static let challengePath = "/.well-known/acme-challenge/"

  private let settings: ACMESettings
  private let folder: String
  private let certificates: Certificates
  private let time: any TimeSource
  private let log: Log
  private let state: Mutex<State>
  /// The answers to challenges over HTTP, by their tokens.
  private let answers = Mutex<[String: String]>([:])
  /// The state is locked while files are written.
  private let failed = Atomic<Int64>(0)

  /// Has the stored certificate used, if there is one. Nil if certificates come from elsewhere.
  init?(_ settings: ServeSettings, _ certificates: Certificates?, _ time: any TimeSource) throws(Failure) {
    guard let acme = settings.acme, let certificates else { return nil }
    (self.settings, self.certificates, self.time, log) = (acme, certificates, time, settings.log)
    folder = settings.folder.path
    let record = try ACMERecord.read(in: folder, ACMERecord.Scope(acme))
    state = Mutex(State(record: record))
    failed.store(record.failures, ordering: .relaxed)
    guard let stored = record.certificate else { return }
    do throws(Failure) { _ = try certificates.use(stored.chain, key: stored.key) } catch {
      throw .failed("\(ACMERecord.path(in: folder)): \(error.message)")
    }
  }

  /// Attempts that have failed since the last certificate. Waits for nothing.
  var failures: Int64 { failed.load(ordering: .relaxed) }

  // MARK: The process that does it

  /// Begins, or goes on with what another process has stored meanwhile: its certificate is used from now on.
  func start() {
    var options = HTTPTransport.Options()
    options.proxy = settings.proxy
    options.authorities = settings.authorities
    options.usesHTTP2 = false
    options.keptFields = ACMEAttempt.fields
    (options.connectMilliseconds, options.totalMilliseconds) = (10_000, 30_000)
    (options.keptBytes, options.mostBytes) = (Self.mostBytes, Self.mostBytes)
    guard let transport = HTTPTransport(options, thread: "acme") else {
      return log.error("cannot start the thread that renews the certificate")
    }
    state.withLock { state in
      do throws(Failure) {
        let record = try ACMERecord.read(in: folder, state.record.scope)
        if let stored = record.certificate, stored != state.record.certificate {
          _ = try certificates.use(stored.chain, key: stored.key)
        }
        state.record = record
      } catch {
        log.error("stored certificate not used", ["reason": .text(error.message)])
      }
      state.transport = transport
      plan(&state)
      log.info(
        "TLS certificate by ACME",
        [
          "names": .text(settings.names.joined(separator: ",")), "directory": .text(settings.directory),
          "next": .text(Log.iso8601(state.begins.milliseconds)),
        ])
    }
  }

  /// Ends at once, so that another process can go on. What the authority is asked at this moment it may do or
  /// not: the order will say so.
  func stop() {
    let transport = state.withLock { state in
      defer { (state.transport, state.attempt, state.isSending) = (nil, nil, false) }
      return state.transport
    }
    transport?.close()
    forgetChallenges()
  }

  /// The work of once a second. Waits for nobody who writes a file.
  func tick() {
    let isDue = state.withLockIfAvailable { state in
      guard state.transport != nil, !state.isSending else { return false }
      guard state.attempt == nil else { return time.monotonic() >= state.continues }
      guard time.now() >= state.begins else { return false }
      begin(&state)
      return true
    }
    if isDue == true { proceed() }
  }

  /// Makes the next attempt now if the last one failed.
  func retry() {
    state.withLock { state in
      guard state.record.failures > 0, state.attempt == nil else { return }
      state.record.earliest = Timestamp(milliseconds: 0)
      plan(&state)
    }
  }

  /// The answer to a challenge over HTTP; nil if this is not a request for one that is waited for.
  func answer(to request: HTTPRequest) -> HTTPResponse? {
    guard request.target.hasPrefix(Self.challengePath), request.method == "GET" else { return nil }
    let token = String(request.target.dropFirst(Self.challengePath.count))
    guard let text = answers.withLock({ $0[token] }) else { return nil }
    return HTTPResponse(
      status: 200, headers: ["content-type": "application/octet-stream"], body: Array(text.utf8))
  }

  // MARK: Attempts

  /// Fixes when the next attempt begins: when the certificate is due, or at the end of the pause behind a
  /// failure.
  private func plan(_ state: inout State) {
    let now = time.now()
    var begins = now
    if state.record.failures == 0, state.record.certificate?.scope == state.record.scope {
      let info = certificates.info
      begins = ACMESchedule.renewal(
        from: info.notBefore, to: info.notAfter, jitter: Double.random(in: 0..<1))
    }
    // The clock may have been wrong when that was stored.
    let earliest = min(state.record.earliest, now.adding(seconds: ACMESchedule.longestWish))
    state.begins = max(begins, earliest)
  }

  private func begin(_ state: inout State) {
    do {
      let account: ES256Key
      if let stored = state.record.account {
        account = try ES256Key(p8: Array(stored.utf8))
      } else {
        account = try ES256Key.generate()
        state.record.account = account.pem
        try state.record.write(in: folder)
      }
      let key = try state.record.order.map { try ES256Key(p8: Array($0.key.utf8)) } ?? ES256Key.generate()
      let signer = try ACMEAccount(key: account)
      (state.account, state.key) = (signer, key)
      state.attempt = ACMEAttempt(
        ACMEPlan(
          directory: settings.directory, names: settings.names, email: settings.email,
          challenge: settings.challenge, account: signer,
          request: try key.certificateRequest(dnsNames: settings.names)),
        order: state.record.order?.url, now: time.monotonic())
    } catch {
      noteFailure(ACMEFailure(Self.text(error)), &state)
    }
  }

  /// Goes on with the attempt until it waits.
  private func proceed() {
    let sending = state.withLock { state in
      guard let transport = state.transport, !state.isSending, let request = follow(&state) else {
        return nil as (HTTPTransport, OutgoingRequest)?
      }
      state.isSending = true
      return (transport, request)
    }
    guard let (transport, request) = sending else { return }
    transport.send(request) { [self] answer in
      let isAwaited = state.withLock { state in
        guard state.transport === transport else { return false }
        state.isSending = false
        state.attempt?.receive(answer, now: time.monotonic())
        return true
      }
      if isAwaited { proceed() }
    }
  }

  /// Does what the attempt wants, up to a request, which is returned.
  private func follow(_ state: inout State) -> OutgoingRequest? {
    while let action = state.attempt?.next(now: time.monotonic()) {
      do {
        switch action {
        case .send(let request): return try state.account?.sign(request)
        case .wait(let moment):
          state.continues = moment
          return nil
        case .keep(let url):
          state.record.order = url.flatMap { url in
            state.key.map { ACMERecord.Order(url: url, key: $0.pem) }
          }
          try state.record.write(in: folder)
        case .answer(let challenge): try serve(challenge)
        case .end(.issued(let chain)):
          try install(String(decoding: chain, as: UTF8.self), &state)
          end(&state)
        case .end(.failed(let failure)):
          noteFailure(failure, &state)
          end(&state)
        }
      } catch {
        noteFailure(ACMEFailure(Self.text(error)), &state)
        end(&state)
      }
    }
    return nil
  }

  private func end(_ state: inout State) {
    (state.attempt, state.account, state.key) = (nil, nil, nil)
    forgetChallenges()
  }

  /// Shows the certificate from now on, and keeps it.
  private func install(_ chain: String, _ state: inout State) throws(Failure) {
    guard let key = state.key else { return }
    var record = state.record
    record.order = nil
    let info: CertificateInfo
    do throws(Failure) { info = try certificates.use(chain, key: key.pem) } catch {
      // The same again would help nobody.
      state.record = record
      throw error
    }
    record.certificate = ACMERecord.Certificate(scope: record.scope, chain: chain, key: key.pem)
    record.failures = 0
    record.earliest = time.now().adding(
      seconds: ACMESchedule.rest(from: info.notBefore, to: info.notAfter))
    // If this fails the order stays, and has the certificate.
    try record.write(in: folder)
    state.record = record
    failed.store(0, ordering: .relaxed)
    plan(&state)
    log.info(
      "TLS certificate obtained",
      [
        "names": .text(settings.names.joined(separator: ",")), "fingerprint": .text(info.fingerprint),
        "ends": .text(Log.iso8601(info.notAfter.milliseconds)),
        "renewal": .text(Log.iso8601(state.begins.milliseconds)),
      ])
  }

  private func noteFailure(_ failure: ACMEFailure, _ state: inout State) {
    let now = time.now()
    let isFit = state.record.certificate?.scope == state.record.scope
    let left = isFit ? certificates.info.notAfter.seconds - now.seconds : 0
    state.record.failures += 1
    failed.store(state.record.failures, ordering: .relaxed)
    state.record.earliest = now.adding(
      seconds: ACMESchedule.pause(
        failures: Int(clamping: state.record.failures), left: max(0, left), retryAfter: failure.retryAfter,
        jitter: Double.random(in: 0..<1)))
    plan(&state)
    let values: KeyValuePairs<String, LogValue> = [
      "reason": .text(failure.reason), "failures": .number(state.record.failures),
      "seconds_left": .number(max(0, left)), "next": .text(Log.iso8601(state.begins.milliseconds)),
    ]
    if left > 0 {
      log.warning("TLS certificate not renewed", values)
    } else {
      log.error("TLS certificate not obtained", values)
    }
    do throws(Failure) { try state.record.write(in: folder) } catch {
      log.error("cannot store when the next certificate is due", ["reason": .text(error.message)])
    }
  }

  // MARK: Challenges

  private func serve(_ challenge: ACMEAttempt.Challenge) throws {
    let isNew = answers.withLock {
      $0.updateValue(challenge.keyAuthorization, forKey: challenge.token) == nil
    }
    guard isNew, let challenges = certificates.challenges else { return }
    let made = try SelfSignedCertificate.answeringChallenge(
      for: challenge.name, keyAuthorization: challenge.keyAuthorization)
    let isTaken = challenges.answer(
      for: challenge.name, certificate: Array(made.certificatePEM.utf8), key: Array(made.keyPEM.utf8))
    guard isTaken else { throw Failure.failed("the certificate for the challenge cannot be used") }
  }

  private func forgetChallenges() {
    answers.withLock { $0 = [:] }
    certificates.challenges?.removeAll()
  }

  private static func text(_ error: any Error) -> String { (error as? Failure)?.message ?? "\(error)" }
}
