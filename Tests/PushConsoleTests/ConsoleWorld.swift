import Glibc
import PushAPNs
import PushBase
import PushCallbacks
import PushCrypto
import PushDomain
import PushGateway
import PushHTTP
import PushRouter
import PushStorage
import PushTesting
import Synchronization

@testable import PushConsole

/// Mail that was sent.
final class Outbox: Sendable {
  private let list = Mutex<[NewMail]>([])

  var mails: [NewMail] { list.withLock { $0 } }

  func take(_ mail: NewMail) -> Bool {
    list.withLock { $0.append(mail) }
    return true
  }
}

/// The console over a real router and database, without sockets.
final class ConsoleWorld: Sendable {
  let console: WebConsole
  let router: Router
  let store: Store
  /// What was sent by mail.
  let outbox = Outbox()
  private let callbacks: CallbackService?
  private let folder = TemporaryFolder()

  /// `sendsMail` sets up mail, as an operator may.
  init(
    time: any TimeSource = ManualClock(), limits: GatewayLimits = GatewayLimits(), sendsMail: Bool = false
  ) throws {
    // With one reader what is read behind an answer has its order.
    store = try Store.open(path: folder.database, readers: sendsMail ? 1 : 2, log: .silent)
    router = Router(store: store, log: .silent)
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    let callbacks = CallbackService(
      router: router, keys: CallbackKeys(read: { .success(keys) }, readOrMake: { _ in .success(keys) }),
      metrics: Metrics(), time: time, log: .silent)
    let gateway = Gateway(
      router: router, callbacks: callbacks, limits: limits, metrics: Metrics(), log: .silent, time: time,
      isReady: { true })
    let apns = APNsChannel(
      router: router, keys: { .success(keys) }, metrics: Metrics(), time: time, log: .silent)
    router.add(apns: apns)
    self.callbacks = callbacks
    @Sendable func context(_ person: PersonID) -> SealingKeys.Context {
      SealingKeys.Context(person: person.rawValue, purpose: "test")
    }
    var send: (@Sendable (NewMail) -> Bool)?
    if sendsMail { send = { [outbox] mail in outbox.take(mail) } }
    console = WebConsole(
      router: router, gateway: gateway, apns: apns, time: time, log: .silent,
      mail: ConsoleMail(site: sendsMail ? "https://push.example.com" : nil, send: send),
      secrets: PersonSecrets(
        seal: { secret, person, _ in keys.seal(secret, for: context(person)) },
        open: { sealed, person in try? keys.open(sealed, for: context(person)) }))
  }

  deinit {
    callbacks?.close()
    store.close()
  }

  /// A device acknowledges a push, and that is stored.
  func acknowledge(_ push: MessageID, by device: RegistrationNumber, in app: App) async {
    router.acknowledge([push], by: device, in: app)
    router.tick()
    _ = try? await store.change(single: true) { _ throws(StorageError) in }
  }

  /// The path of the setup link, nil when somebody can log in already.
  func setupPath() async -> String? {
    await withCheckedContinuation { done in console.prepareSetup { done.resume(returning: $0) } }
  }

  /// A browser with the first person logged in.
  func owner() async throws -> Browser {
    let browser = Browser(self)
    let path = await setupPath() ?? ""
    _ = await browser.submit(
      path, ["name": "Zoe", "email": "zoe@example.com", "password": Self.password])
    return browser
  }

  static let password = "correct horse battery"

  /// A browser with a new person of a role in an account.
  func member(_ role: Role, of account: AccountID, name: String) async throws -> Browser {
    let hash = try Password.hash(Self.password)
    _ = try await store.change { transaction throws(StorageError) in
      let person = try transaction.addPerson(
        NewPerson(
          email: "\(name)@example.com", name: name, password: hash, language: "en", isOperator: false),
        at: Timestamp(milliseconds: 0))
      try transaction.setRole(of: person, in: account, role)
    }
    let browser = Browser(self)
    _ = await browser.submit("/console/login", ["email": "\(name)@example.com", "password": Self.password])
    return browser
  }

  func account(_ name: String) async throws -> AccountID {
    try await store.change { transaction throws(StorageError) in
      try transaction.createAccount(
        key: .random(), name: name, secretHash: SHA256.digest([1]), plan: PlanRow.unlimited,
        at: Timestamp(milliseconds: 0))
    }
  }

  func app(of account: AccountID) async throws -> App {
    let key = AppKey.random()
    _ = try await store.change { transaction throws(StorageError) in
      try transaction.createApp(
        NewApp(key: key, name: "app \(account.rawValue)", secretHash: SHA256.digest([1]), account: account),
        at: Timestamp(milliseconds: 0))
    }
    let found = await withCheckedContinuation { done in router.findApp(key) { done.resume(returning: $0) } }
    guard let app = try found.get() else { throw StorageError(.other, "no app") }
    return app
  }

  func device(in app: App, platform: Platform = .android) async throws -> RegistrationID {
    let result = await withCheckedContinuation { done in
      router.register(
        in: app, platform: platform, fingerprint: [], environment: .none, token: [], appVersion: ""
      ) { done.resume(returning: $0) }
    }
    return try result.get().id
  }
}

/// Keeps cookies and sends forms with the token of the page before, as a browser does.
final class Browser: Sendable {
  private let world: ConsoleWorld
  private let cookies = Mutex<[String: String]>([:])
  private let token = Mutex("")

  init(_ world: ConsoleWorld) { self.world = world }

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
    let response = await withCheckedContinuation { done in
      world.console.handle(request, peer: IPAddress("192.0.2.1"), isSecure: false) {
        done.resume(returning: $0)
      }
    }
    Safety.check(response, "\(method) \(target)")
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
