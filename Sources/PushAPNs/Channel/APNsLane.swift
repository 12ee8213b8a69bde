import PushBase
import PushCrypto
import PushDomain
import Synchronization

/// One pool of connections and the apps that share it: gives their requests to it in turn, so that no app waits for
/// another one's million.
final class APNsLane: APNsSource {
  private struct State: Sendable {
    var pool: APNsPool?
    /// The queues of the apps.
    var members: [APNsQueue] = []
    /// Who begins next time.
    var turn = 0
    var token: ProviderToken?
    /// Nothing leaves before this second.
    var restsUntil: Int64 = 0
    /// Why, for people.
    var restReason = ""
    /// Failures of the host in a row.
    var hostFailures = 0
    /// Until the host answers again, one request at a time asks it.
    var isProbing = false
    var probes = 0
  }

  /// The service of all its requests.
  let environment: APNsEnvironment
  private let mint: ProviderTokenMint?
  private let parts: APNsParts
  private let state = Mutex(State())

  /// Makes a lane whose connections authenticate by tokens of a mint, or by certificate.
  init(environment: APNsEnvironment, mint: ProviderTokenMint?, parts: APNsParts) {
    self.environment = environment
    self.mint = mint
    self.parts = parts
  }

  /// Connects it; before anything else.
  func start(on address: APNsDriver.Address, _ configuration: APNsPoolConfiguration) {
    let pool = APNsPool(on: address, configuration, source: self)
    state.withLock { $0.pool = pool }
    refreshToken()
  }

  /// What its pool says of itself.
  var status: APNsPoolStatus? { state.withLock { $0.pool }?.status }

  /// Why nothing leaves now, for people; nil if pushes leave as far as connections allow.
  var problem: String? {
    state.withLock { $0.restsUntil > 0 ? $0.restReason : nil }
  }

  /// Whether nobody uses it.
  var isUnused: Bool { state.withLock { $0.members.isEmpty } }

  func add(_ queue: APNsQueue) {
    state.withLock { state in
      guard !state.members.contains(where: { $0 === queue }) else { return }
      state.members.append(queue)
    }
  }

  func remove(_ queue: APNsQueue) {
    state.withLock { state in state.members.removeAll { $0 === queue } }
  }

  func wake() { state.withLock { $0.pool }?.wake() }

  func close(drain: Bool) { state.withLock { $0.pool }?.close(drain: drain) }

  // MARK: The pool's questions

  /// An app that has this many requests under way gets none of the scarce streams, if others may want them.
  private static let modestFlights = 32

  func take(upTo count: Int, areScarce: Bool) -> [APNsRequest] {
    let (members, turn, token, allowed) = state.withLock { state in
      let isProbe = state.isProbing
      let allowed = !isProbe ? count : state.probes == 0 ? min(1, count) : 0
      defer { state.turn &+= 1 }
      return (state.members, state.turn, state.token, allowed)
    }
    guard !members.isEmpty, allowed > 0 else { return [] }
    var requests: [APNsRequest] = []
    var dry: Set<Int> = []
    while requests.count < allowed, dry.count < members.count {
      let share = max(1, (allowed - requests.count) / (members.count - dry.count))
      for offset in 0..<members.count where requests.count < allowed {
        let index = (turn &+ offset) % members.count
        guard !dry.contains(index) else { continue }
        if areScarce, members.count > 1, members[index].counts.flights >= Self.modestFlights {
          dry.insert(index)
          continue
        }
        let wanted = min(share, allowed - requests.count)
        let more = members[index].take(environment, upTo: wanted, token: token)
        if more.count < wanted { dry.insert(index) }
        requests += more
      }
    }
    if allowed < count { state.withLock { $0.probes += requests.count } }
    return requests
  }

  func answered(_ results: [APNsResultEntry]) {
    state.withLock { $0.probes = max(0, $0.probes - results.count) }
    for (app, results) in Self.byApp(results) { parts.queues.find(app)?.answered(results) }
    wakeIfProbing()
  }

  private static func byApp(_ results: [APNsResultEntry]) -> [AppID: [APNsResultEntry]] {
    func app(_ entry: APNsResultEntry) -> AppID { RequestTag(rawValue: entry.tag).app }
    // Most often there is one app.
    if let first = results.first, results.allSatisfy({ app($0) == app(first) }) {
      return [app(first): results]
    }
    return Dictionary(grouping: results, by: app)
  }

  func noticed(_ event: APNsPoolEvent) {
    let name = LogValue.text(environment.name)
    switch event {
    case .connected(let address):
      parts.log.info("connected to APNs", ["environment": name, "address": .text(address)])
    case .failed(let reason, let wait):
      parts.log.warning(
        "no connection to APNs",
        ["environment": name, "reason": .text(reason), "retry_ms": .number(Int64(clamping: wait))])
    case .goAway(let code, let debug):
      parts.log.info(
        "APNs closes a connection", ["environment": name, "code": .text(code), "reason": .text(debug)])
    case .closed: break
    }
  }

  // MARK: Tokens and pauses

  /// Takes the mint's current token over, if it is another one.
  private func refreshToken() {
    guard let mint else { return }
    do throws(CryptoError) { adopt(try mint.current()) } catch {
      parts.log.error("no provider token", ["key": .text(mint.keyID), "reason": .text("\(error)")])
    }
  }

  private func adopt(_ token: ProviderToken) {
    let pool = state.withLock { state -> APNsPool? in
      guard state.token != token else { return nil }
      state.token = token
      return state.pool
    }
    pool?.setAuthorization(token.authorization)
  }

  /// Apple called a token expired: takes another one. False if that was one that had been renewed for the same reason.
  func renew(_ refused: ProviderToken) -> Bool {
    guard let mint else { return false }
    guard let renewal = try? mint.renewal(of: refused) else { return false }
    switch renewal {
    case .token(let token):
      adopt(token)
      wake()
      return true
    case .tooSoon: return false
    }
  }

  /// The host is overloaded: asks it again after a while, with one request at first.
  func slowDown() {
    let now = parts.time.now().seconds
    let pool = state.withLock { state -> APNsPool? in
      state.isProbing = true
      guard state.restsUntil <= now else { return nil }
      state.hostFailures += 1
      var random = SystemRandomNumberGenerator()
      let delay = APNsRetry.slowHost.schedule.delay(afterFailures: min(state.hostFailures, 6), using: &random)
      state.restsUntil = now + max(1, delay / 1000)
      state.restReason = "Apple answers 503 ServiceUnavailable"
      return state.pool
    }
    pool?.pause()
  }

  /// The host took a push: everything may leave again.
  func hostAnswers() {
    let pool = state.withLock { state -> APNsPool? in
      guard state.isProbing else { return nil }
      state.isProbing = false
      state.hostFailures = 0
      state.probes = 0
      return state.pool
    }
    pool?.wake()
  }

  private func wakeIfProbing() {
    let pool = state.withLock { $0.isProbing ? $0.pool : nil }
    pool?.wake()
  }

  /// Sends nothing for a while.
  func rest(seconds: Int64, _ reason: String) {
    let until = parts.time.now().seconds + seconds
    let pool = state.withLock { state -> APNsPool? in
      guard state.restsUntil < until else { return nil }
      state.restsUntil = until
      state.restReason = reason
      return state.pool
    }
    guard let pool else { return }
    parts.log.error(
      "APNs pauses",
      ["environment": .text(environment.name), "reason": .text(reason), "seconds": .number(seconds)])
    pool.pause()
  }

  /// The work of once a second.
  func tick() {
    refreshToken()
    let now = parts.time.now().seconds
    let pool = state.withLock { state -> APNsPool? in
      guard state.restsUntil > 0, state.restsUntil <= now else { return nil }
      state.restsUntil = 0
      return state.pool
    }
    pool?.resume()
  }
}
