import API
import BorealisBase
import BorealisCrypto
import Channels
import Core
import Glibc
import HTTP
import Model
import PushTesting
import Storage
import Synchronization

@testable import Console

/// Mail that was sent.
final class Outbox: Sendable {
  private let list = Mutex<[NewMail]>([])
  private let full = Mutex(false)

  /// Whether it takes no more.
  var isFull: Bool {
    get { full.withLock { $0 } }
    set { full.withLock { $0 = newValue } }
  }

  var mails: [NewMail] { list.withLock { $0 } }

  /// What tells how far the latest mail has come.
  var progress: @Sendable (MailProgress) -> Void { latest.withLock { $0 } }
  private let latest = Mutex<@Sendable (MailProgress) -> Void>({ _ in })

  /// A place for a mail.
  func reserve() -> ConsoleMail.Send? {
    guard !isFull else { return nil }
    return { [self] mail, progress in
      list.withLock { $0.append(mail) }
      latest.withLock { $0 = progress }
    }
  }
}

/// Nodes that the home knows.
final class KnownNodes: Sendable {
  let nodes = Mutex<[ConsoleNode]>([])
  let database = Mutex(
    ConsoleDatabase(
      name: "SQLite", file: .init(bytes: 812_345_678, freeBytes: 51_200_000_000), isWritten: true))
}

/// The console over a real router and database, without sockets.
final class ConsoleWorld: Sendable {
  let console: WebConsole
  let router: Router
  private let database: TestDatabase
  var store: Store { database.store }
  /// What was sent by mail.
  let outbox = Outbox()
  /// The nodes of the cluster.
  let cluster = KnownNodes()
  private let callbacks: CallbackService?

  /// `sendsMail` sets up mail, as an operator may; with `secretKeys` contents can be encrypted; people may
  /// log in with `provider`. The router has a clock of its own.
  init(
    time: any TimeSource = ManualClock(), routerTime: any TimeSource = SystemTime(),
    limits: GatewayLimits = GatewayLimits(), sendsMail: Bool = false,
    secretKeys: SecretKeySource = .none, provider: SignOnProvider? = nil, servesDocs: Bool = true
  ) throws {
    // With one reader what is read behind an answer has its order.
    database = try TestDatabase { location in
      var options = TestDatabase.options
      options.secretKeys = secretKeys
      return try Store.open(location, readers: sendsMail ? 1 : 2, log: .silent, options: options)
    }
    router = Router(store: database.store, scope: .all, time: routerTime, log: .silent)
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    let callbacks = CallbackService(
      router: router, store: database.store,
      keys: CallbackKeys(read: { .success(keys) }, readOrMake: { _ in .success(keys) }),
      metrics: Metrics(), time: time, log: .silent)
    var limits = limits
    limits.rules.renderers = [APNsContentRenderer()]
    let gateway = Gateway(
      router: router, callbacks: callbacks, limits: limits, metrics: Metrics(), log: .silent, time: time,
      obstacle: { nil })
    let apns = APNsChannel(
      router: router, store: database.store, keys: .init(open: { .success(keys) }),
      metrics: Metrics(), time: time,
      log: .silent)
    router.add(apns)
    self.callbacks = callbacks
    @Sendable func context(_ person: PersonID) -> SealingKeys.Context {
      SealingKeys.Context(person: person.rawValue, purpose: "test")
    }
    var reserve: ConsoleMail.Reserve?
    if sendsMail { reserve = { [outbox] _ in outbox.reserve() } }
    var server = ConsoleServer(
      version: "1.2.3", startedAt: Timestamp(milliseconds: 1_700_000_000_000), connections: { 54_321 },
      nodes: { [cluster] in cluster.nodes.withLock { $0 } })
    server.servesDocs = servesDocs
    console = WebConsole(
      router: router, store: database.store, gateway: gateway, time: time, log: .silent,
      mail: ConsoleMail(
        site: sendsMail ? "https://push.example.com" : nil, reserve: reserve),
      secrets: PersonSecrets(
        seal: { secret, person, _ in keys.seal(secret, for: context(person)) },
        open: { sealed, person in try? keys.open(sealed, for: context(person)) }),
      provider: provider, server: server,
      database: { [cluster] in cluster.database.withLock { $0 } })
  }

  deinit {
    callbacks?.close()
    router.unplug()
  }

  /// A device acknowledges a push, and that is stored.
  func acknowledge(_ push: MessageID, by device: RegistrationNumber, in app: App) async {
    router.deliveries.acknowledge([push], by: device, in: app)
    router.tick()
    _ = try? await store.change(single: true) { _ throws(StorageError) in }
  }

  /// Waits until all that was asked of the database, and what follows from it, is done.
  func settle() async throws {
    for _ in 0..<3 {
      try await store.change(lowPriority: true) { _ throws(StorageError) in }
      try await store.look { _ throws(StorageError) in }
      // Long reads wait on a thread of their own before they are among the others.
      for app in [.installation] + router.apps.all.map(\.id) {
        _ = await store.read(inTurnOf: app) { _ throws(StorageError) in }
      }
    }
  }

  /// The path of the setup link, nil when somebody can log in already.
  func setupPath() async -> String? { await console.prepareSetup() }

  /// A browser with the first person logged in, who is what the setup link would have made her.
  func owner() async throws -> Browser {
    let zoe = Self.person("zoe", "Zoe", isOperator: true)
    let now = console.people.time.now()
    try await store.change { transaction throws(StorageError) in
      let id = try transaction.people.add(zoe, at: now)
      try transaction.members.setRole(of: id, in: .standard, .owner)
      try transaction.audit.add(
        AuditRow(
          at: now, account: .standard, person: id, who: zoe.signature, action: "person.setup",
          target: zoe.email, address: ""))
    }
    return await login("zoe")
  }

  static let password = "correct horse battery"

  /// Somebody with this password. Hundreds log in: their hash is good, and quicker than one for storing may
  /// be.
  private static func person(_ address: String, _ name: String, isOperator: Bool) -> NewPerson {
    NewPerson(
      email: "\(address)@example.com", name: name,
      password: "scrypt$10$1$1$c2FsdCBvZiB0aGUgdGVzdA==$W3dxlcCJoHA7o2wIeFloQc6GqAoqpBJ84Q684XmfRHM=",
      language: "en", isOperator: isOperator)
  }

  private func login(_ address: String) async -> Browser {
    let browser = Browser(self)
    _ = await browser.submit(
      "/console/login", ["email": "\(address)@example.com", "password": Self.password])
    return browser
  }

  /// A browser with a new person of a role in an account.
  func member(_ role: Role, of account: AccountID, name: String) async throws -> Browser {
    let new = Self.person(name, name, isOperator: false)
    _ = try await store.change { transaction throws(StorageError) in
      let person = try transaction.people.add(new, at: Timestamp(milliseconds: 0))
      try transaction.members.setRole(of: person, in: account, role)
    }
    return await login(name)
  }

  func account(_ name: String) async throws -> AccountID {
    try await store.change { transaction throws(StorageError) in
      try transaction.accounts.create(
        key: .random(), name: name, secretHash: SHA256.digest([1]), plan: PlanRow.unlimited,
        at: Timestamp(milliseconds: 0))
    }
  }

  func app(of account: AccountID) async throws -> App {
    try await router.makeApp(in: store, name: "app \(account.rawValue)", account: account)
  }

  func device(in app: App, platform: Platform = .android) async throws -> RegistrationID {
    try await router.newDevice(in: app, platform: platform).id
  }
}

/// Keeps cookies and sends forms with the token of the page before, as a browser does.
final class Browser: Sendable {
  private let world: ConsoleWorld
  private let cookies: Mutex<[String: String]>
  private let token = Mutex("")

  init(_ world: ConsoleWorld, cookies: [String: String] = [:]) {
    self.world = world
    self.cookies = Mutex(cookies)
  }

  func hasCookie(_ name: String) -> Bool { cookies.withLock { $0[name]?.isEmpty == false } }

  /// What its forms carry.
  var formToken: String { token.withLock { $0 } }

  func cookie(_ name: String) -> String? { cookies.withLock { $0[name] } }

  /// A request as it is: no redirects, no token.
  func call(
    _ method: String, _ target: String, body: String = "", headers extra: [(String, String)] = []
  ) async -> HTTPResponse {
    await call(
      method, target, bytes: Array(body.utf8), type: "application/x-www-form-urlencoded", headers: extra)
  }

  private func call(
    _ method: String, _ target: String, bytes: [UInt8], type: String, headers extra: [(String, String)]
  ) async -> HTTPResponse {
    var headers: HTTPHeaders = ["host": "console.example"]
    let jar = cookies.withLock { $0.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
    if !jar.isEmpty { headers.append("cookie", jar) }
    if method == "POST" { headers.append("content-type", type) }
    for (name, value) in extra { headers.append(name, value) }
    let request = HTTPRequest(method: method, target: target, headers: headers, body: bytes)
    let response = await world.console.answer(
      to: request, peer: IPAddress("192.0.2.1"), isSecure: false)
    Safety.check(response, "\(method) \(target)")
    SentForm.check(response, of: world, at: target)
    for field in response.headers.fields where field.name == "set-cookie" {
      let pair = field.value.split(separator: ";")[0].split(separator: "=", omittingEmptySubsequences: false)
      cookies.withLock { $0[String(pair[0])] = String(pair[1]) }
    }
    let text = String(decoding: response.body, as: UTF8.self)
    if let start = text.firstRange(of: "<meta name=\"form-token\" content=\"") {
      token.withLock { $0 = String(text[start.upperBound...].prefix { $0 != "\"" }) }
    }
    return response
  }

  /// A page, following redirects.
  func open(_ target: String) async -> (status: Int, text: String) {
    await follow(await call("GET", target))
  }

  /// Sends a form, following redirects.
  func submit(_ target: String, _ fields: [String: String] = [:]) async -> (status: Int, text: String) {
    await follow(await post(target, fields))
  }

  /// Sends a form in which names may occur more than once, following redirects.
  func submit(_ target: String, all fields: [(String, String)]) async -> (status: Int, text: String) {
    let token = token.withLock { $0 }
    let body = (fields + [("form_token", token)]).map { "\(Self.encode($0.0))=\(Self.encode($0.1))" }
    return await follow(
      await call(
        "POST", target, body: body.joined(separator: "&"), headers: [("sec-fetch-site", "same-origin")]))
  }

  /// Sends a form; the answer as it is.
  func post(_ target: String, _ fields: [String: String] = [:]) async -> HTTPResponse {
    var fields = fields
    fields["form_token"] = token.withLock { $0 }
    // In one order, as a browser has it.
    let body = fields.sorted { $0.key < $1.key }.map { "\(Self.encode($0.key))=\(Self.encode($0.value))" }
      .joined(separator: "&")
    return await call("POST", target, body: body, headers: [("sec-fetch-site", "same-origin")])
  }

  /// Sends a form with files, as a browser does; the answer as it is.
  func upload(
    _ target: String, _ fields: [String: String] = [:], files: [(field: String, name: String, bytes: [UInt8])]
  ) async -> (status: Int, text: String) {
    var fields = fields
    fields["form_token"] = token.withLock { $0 }
    var body: [UInt8] = []
    for (name, value) in fields {
      body += "--edge\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8
    }
    for file in files {
      body +=
        "--edge\r\nContent-Disposition: form-data; name=\"\(file.field)\"; filename=\"\(file.name)\"\r\n".utf8
      body += "Content-Type: application/octet-stream\r\n\r\n".utf8
      body += file.bytes + [13, 10]
    }
    body += "--edge--\r\n".utf8
    let answer = await call(
      "POST", target, bytes: body, type: "multipart/form-data; boundary=edge",
      headers: [("sec-fetch-site", "same-origin")])
    return (answer.status, String(decoding: answer.body, as: UTF8.self))
  }

  private func follow(_ first: HTTPResponse) async -> (status: Int, text: String) {
    var response = first
    for _ in 0..<5 {
      guard response.status == 303, let location = response.headers["location"] else { break }
      response = await call("GET", location)
    }
    return (response.status, String(decoding: response.body, as: UTF8.self))
  }

  private static func encode(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case 48...57, 65...90, 97...122: String(UnicodeScalar(byte))
      default: "%" + Hex.encode([byte])
      }
    }.joined()
  }
}
