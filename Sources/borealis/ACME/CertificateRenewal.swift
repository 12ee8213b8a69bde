import BorealisBase
import BorealisCrypto
import BorealisNet
import HTTP
import Synchronization

/// Obtains the certificate from a certificate authority and renews it (Docs/decisions/0119). Each attempt has
/// a thread of its own, on which answers are handled and files are written; pauses end with `tick`. Only one
/// process does this at a time: the one that has called `start`. Safe to use from any thread.
final class CertificateRenewal: Sendable {
  /// An attempt under way.
  private struct Run: Sendable {
    let account: ACMEAccount
    /// The private key of the certificate that is ordered.
    let key: ES256Key
    /// Whether an earlier attempt has made the order.
    let isResumed: Bool
    var attempt: ACMEAttempt
    var isSending = false
    /// When it goes on, on the clock that never jumps.
    var continues: UInt64 = 0
  }

  private struct State: Sendable {
    var record: ACMERecord
    var next: ACMENextAttempt
    /// Whether this process is the one.
    var isActive = false
    /// Nil between attempts.
    var transport: HTTPTransport?
    /// Nil until the transport's thread begins the attempt.
    var run: Run?
  }

  /// Bytes of an answer, which may be a chain of certificates.
  private static let mostBytes = 128 << 10
  private static let challengePath = "/.well-known/acme-challenge/"

  private let settings: ACMESettings
  private let folder: String
  private let certificates: Certificates
  private let time: any TimeSource
  private let log: Log
  /// Locked while files are written, for which neither the main thread nor a loop may wait.
  private let state: Mutex<State>
  /// The answers to challenges over HTTP, by their tokens.
  private let answers = Mutex<[String: String]>([:])
  private let failed = Atomic<Int64>(0)
  private let isReloadWanted = Atomic<Bool>(false)
  private let isEnding = Atomic<Bool>(false)

  /// Has the stored certificate used, if there is one. Nil if certificates come from elsewhere.
  init?(_ settings: ServeSettings, _ certificates: Certificates?, _ time: any TimeSource) throws(Failure) {
    guard let acme = settings.acme, let certificates else { return nil }
    (self.settings, self.certificates, self.time, log) = (acme, certificates, time, settings.log)
    folder = settings.folder.path
    let record = ACMERecord(ACMERecord.Scope(acme))
    let next = ACMENextAttempt(
      earliest: record.earliest, renewal: nil, now: time.now(), monotonic: time.monotonic())
    state = Mutex(State(record: record, next: next))
    try state.withLock { state throws(Failure) in try load(&state) }
  }

  /// Attempts that have failed since the last certificate. Waits for nothing.
  var failures: Int64 { failed.load(ordering: .relaxed) }

  // MARK: The process that does it

  /// Begins, or goes on with what another process has stored meanwhile: its certificate is used from now on.
  func start() {
    state.withLock { state in
      reload(&state)
      state.isActive = true
      log.info(
        "TLS certificate by ACME",
        [
          "names": .text(settings.names.joined(separator: ",")), "directory": .text(settings.directory),
          "next": .text(nextAttempt(state)),
        ])
    }
  }

  /// Ends at once, so that another process can go on. What the authority is asked at this moment it may do or
  /// not: the order will say so.
  func stop() {
    state.withLock { state in
      state.isActive = false
      state.transport?.close()
      (state.transport, state.run) = (nil, nil)
    }
  }

  /// Begins nothing more, since the process ends. Waits for nothing.
  func expectEnd() { isEnding.store(true, ordering: .relaxed) }

  /// Has the file read again with the next tick: an attempt begins if the last one failed, or if there is no
  /// certificate any more. Waits for nothing.
  func reload() { isReloadWanted.store(true, ordering: .relaxed) }

  /// The work of once a second. Waits for nobody who writes a file.
  func tick() {
    let transport = state.withLockIfAvailable { state -> HTTPTransport? in
      guard state.isActive else { return nil }
      if isReloadWanted.exchange(false, ordering: .relaxed) { reloadAsWanted(&state) }
      if let run = state.run {
        return run.isSending || time.monotonic() < run.continues ? nil : state.transport
      }
      guard state.transport == nil, state.next.isDue(now: time.now(), monotonic: time.monotonic()) else {
        return nil
      }
      state.transport = makeTransport()
      if state.transport == nil { fail(ACMEFailure("the system cannot start a thread"), &state) }
      return state.transport
    }
    if let transport, let transport { transport.run { [self] in proceed(transport) } }
  }

  /// The answer to a challenge over HTTP; nil if this is not a request for one that is waited for.
  func answer(to request: HTTPRequest) -> HTTPResponse? {
    guard request.target.hasPrefix(Self.challengePath), request.method == "GET" else { return nil }
    let token = String(request.target.dropFirst(Self.challengePath.count))
    guard let text = answers.withLock({ $0[token] }) else { return nil }
    return HTTPResponse(
      status: 200, headers: ["content-type": "application/octet-stream"], body: Array(text.utf8))
  }

  // MARK: What is stored

  /// Reads what is stored, and has its certificate used. One that cannot be used is left out.
  private func load(_ state: inout State) throws(Failure) {
    var record = try ACMERecord.read(in: folder, state.record.scope)
    if let stored = record.certificate, stored != state.record.certificate {
      do throws(Failure) { _ = try certificates.use(stored.chain, key: stored.key) } catch {
        log.error("stored TLS certificate not used", ["reason": .text(error.message)])
        record.certificate = nil
        // The rest of a new certificate, not the pause behind a failure.
        if record.failures == 0 { record.earliest = Timestamp(milliseconds: 0) }
      }
    }
    state.record = record
    plan(&state)
  }

  /// The same for a file that this process has read before.
  private func reload(_ state: inout State) {
    do throws(Failure) { try load(&state) } catch {
      log.error("stored TLS certificate not read", ["reason": .text(error.message)])
    }
  }

  private func reloadAsWanted(_ state: inout State) {
    guard state.transport == nil else {
      return log.info("nothing to reload: an attempt to obtain the TLS certificate is under way")
    }
    reload(&state)
    if state.record.failures > 0 { state.record.earliest = Timestamp(milliseconds: 0) }
    plan(&state)
    log.info("TLS certificate by ACME reloaded", ["next": .text(nextAttempt(state))])
  }

  /// Fixes when the next attempt begins.
  private func plan(_ state: inout State) {
    failed.store(state.record.failures, ordering: .relaxed)
    var renewal: Timestamp?
    if state.record.failures == 0, state.record.isFit {
      let info = certificates.info
      renewal = ACMESchedule.renewal(
        from: info.notBefore, to: info.notAfter, jitter: Double.random(in: 0..<1))
    }
    state.next = ACMENextAttempt(
      earliest: state.record.earliest, renewal: renewal, now: time.now(), monotonic: time.monotonic())
  }

  private func nextAttempt(_ state: State) -> String {
    Log.iso8601(state.next.begin(now: time.now(), monotonic: time.monotonic()).milliseconds)
  }

  // MARK: Attempts

  /// Nil if the system cannot start its thread.
  private func makeTransport() -> HTTPTransport? {
    var options = HTTPTransport.Options()
    options.proxy = settings.proxy
    options.authorities = settings.authorities
    options.usesHTTP2 = false
    options.keptFields = ACMEAttempt.fields
    (options.connectMilliseconds, options.totalMilliseconds) = (10_000, 30_000)
    // One more shows that an answer was cut off.
    (options.keptBytes, options.mostBytes) = (Self.mostBytes + 1, Self.mostBytes)
    return HTTPTransport(options, thread: "acme")
  }

  private func begin(_ state: inout State) throws {
    if state.record.account == nil {
      state.record.account = try ES256Key.generate().pem
      try state.record.write(in: folder)
    }
    let account = try ACMEAccount(key: ES256Key(p8: Array((state.record.account ?? "").utf8)))
    let order = state.record.order
    let key = try order.map { try ES256Key(p8: Array($0.key.utf8)) } ?? ES256Key.generate()
    let plan = ACMEPlan(
      directory: settings.directory, names: settings.names, email: settings.email,
      challenge: settings.challenge, account: account,
      request: try key.certificateRequest(dnsNames: settings.names))
    state.run = Run(
      account: account, key: key, isResumed: order != nil,
      attempt: ACMEAttempt(plan, order: order?.url, now: time.monotonic()))
  }

  /// Goes on with the attempt until it waits. On the thread of its transport.
  private func proceed(_ transport: HTTPTransport) {
    let request = state.withLock { state -> OutgoingRequest? in
      guard state.transport === transport, state.run?.isSending != true,
        !isEnding.load(ordering: .relaxed), let request = follow(&state)
      else { return nil }
      state.run?.isSending = true
      return request
    }
    guard let request else { return }
    transport.send(request) { [self] answer in
      var answer = answer
      if answer.body.count > Self.mostBytes {
        answer.error = "its answer has more than \(Self.mostBytes >> 10) KiB"
      }
      state.withLock { state in
        guard state.transport === transport else { return }
        state.run?.isSending = false
        state.run?.attempt.receive(answer, now: time.monotonic())
      }
      proceed(transport)
    }
  }

  /// Does what the attempt wants, up to a request, which is returned.
  private func follow(_ state: inout State) -> OutgoingRequest? {
    do {
      if state.run == nil { try begin(&state) }
      while let action = state.run?.attempt.next(now: time.monotonic()) {
        switch action {
        case .send(let request): return try state.run?.account.sign(request)
        case .wait(let moment):
          state.run?.continues = moment
          return nil
        case .keep(let url):
          let key = state.run?.key.pem ?? ""
          state.record.order = url.map { ACMERecord.Order(url: $0, key: key) }
          try state.record.write(in: folder)
        case .answer(let challenge): try serve(challenge)
        case .end(.issued(let chain)): try install(String(decoding: chain, as: UTF8.self), &state)
        case .end(.failed(let failure)): fail(failure, &state)
        }
      }
    } catch {
      fail(ACMEFailure((error as? Failure)?.message ?? "\(error)"), &state)
    }
    return nil
  }

  /// The attempt is over.
  private func end(_ state: inout State) {
    state.transport?.close()
    (state.transport, state.run) = (nil, nil)
    answers.withLock { $0 = [:] }
    certificates.challenges?.removeAll()
  }

  /// Shows the certificate from now on, and keeps it.
  private func install(_ chain: String, _ state: inout State) throws {
    guard let run = state.run else { return }
    let order = state.record.order
    // If it cannot be used, the same again would help nobody.
    state.record.order = nil
    let info = try use(chain, run.key, state.record)
    var record = state.record
    record.certificate = ACMERecord.Certificate(scope: record.scope, chain: chain, key: run.key.pem)
    record.failures = 0
    // Nobody knows when an order of an earlier attempt had its certificate issued.
    let rest = run.isResumed ? 0 : ACMESchedule.rest(from: info.notBefore, to: info.notAfter)
    record.earliest = time.now().adding(seconds: rest)
    do throws(Failure) { try record.write(in: folder) } catch {
      // The order has the certificate.
      state.record.order = order
      return fail(ACMEFailure(error.message), &state, as: "TLS certificate obtained but not stored")
    }
    state.record = record
    end(&state)
    plan(&state)
    log.info(
      "TLS certificate obtained",
      [
        "names": .text(settings.names.joined(separator: ",")), "fingerprint": .text(info.fingerprint),
        "ends": .text(Log.iso8601(info.notAfter.milliseconds)), "next": .text(nextAttempt(state)),
      ])
  }

  /// Has a certificate used unless clients would take the present one rather.
  private func use(_ chain: String, _ key: ES256Key, _ record: ACMERecord) throws -> CertificateInfo {
    guard CertificateInfo.isCertificate(chain, for: settings.names) else {
      throw Failure.failed("the certificate that was issued is not for the names that were ordered")
    }
    let end = try CertificateInfo(pem: chain).notAfter
    guard end > time.now() || !record.isFit || end >= certificates.info.notAfter else {
      throw Failure.failed("the certificate that was issued has expired")
    }
    return try certificates.use(chain, key: key.pem)
  }

  /// Ends the attempt without a certificate that is kept. `message` is for the log, unless there is none.
  private func fail(_ failure: ACMEFailure, _ state: inout State, as message: StaticString? = nil) {
    end(&state)
    let now = time.now()
    let left = state.record.isFit ? max(0, certificates.info.notAfter.seconds - now.seconds) : 0
    state.record.failures = min(state.record.failures + 1, ACMERecord.failureCounts.upperBound)
    let pause = ACMESchedule.pause(failures: state.record.failures, left: left, failure)
    state.record.earliest = now.adding(seconds: pause)
    var unstored: String?
    do throws(Failure) { try state.record.write(in: folder) } catch { unstored = error.message }
    plan(&state)
    let values: KeyValuePairs<String, LogValue> = [
      "reason": .text(failure.reason), "failures": .number(state.record.failures),
      "seconds_left": .number(left), "next": .text(nextAttempt(state)),
    ]
    if let message {
      log.error(message, values)
    } else if left > 0 {
      log.warning("TLS certificate not renewed", values)
    } else {
      log.error("TLS certificate not obtained", values)
    }
    if let unstored { log.error("cannot store the next attempt's time", ["reason": .text(unstored)]) }
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
}
