import BorealisBase
import BorealisCrypto
import Glibc
import PushTesting
import Testing

/// Certificates of a certificate authority: pebble in its strict form, which refuses half of all good nonces.
@Suite struct ACMETests {
  private let folder = TemporaryFolder()
  private let pebble: Pebble

  init() throws { pebble = try Pebble() }

  private var recordPath: String { folder.path + "/data/acme.json" }
  private var record: JSONValue? { try? parseJSON(TemporaryFolder.bytes(recordPath)) }

  private func serve(_ arguments: [String], http: String = "127.0.0.1:0") throws -> TestServer {
    try TestServer(data: folder.path + "/data", pebble.settings + arguments, http: http)
  }

  private func port(_ address: JSONValue?) -> String {
    String(address?.string?.split(separator: ":").last ?? "")
  }

  /// The fingerprint of the certificate that a new connection gets; it has to be trusted unless it may be
  /// another one.
  private func shown(_ address: JSONValue?, isTrusted: Bool = true) throws -> String {
    let check =
      isTrusted ? "-CAfile \(pebble.root) -verify_return_error -verify_hostname localhost" : ""
    let text = try OpenSSLTool().run(
      "s_client -connect 127.0.0.1:\(port(address)) -servername localhost \(check)")
    let begin = try #require(text.firstRange(of: "-----BEGIN CERTIFICATE-----"))
    return try CertificateInfo(pem: String(text[begin.lowerBound...])).fingerprint
  }

  private func waitForCertificates(_ count: Int, of program: RunningProgram) {
    let text = " info TLS certificate obtained "
    let isThere = RunningProgram.eventually { program.errors.ranges(of: text).count >= count }
    #expect(isThere, "\(program.errors.suffix(3000))\n\(pebble.log.suffix(3000))")
  }

  @Test func `A certificate is obtained over HTTP and renewed, and connections stay`() throws {
    let server = try serve(["--http-tls", "127.0.0.1:0", "--device", "127.0.0.1:0"])
    let app = try server.makeApp()
    let (https, tls) = (server.ready["http_tls"], server.ready["device"])
    let provisional = try shown(tls, isTrusted: false)
    #expect(server.ready["certificate"] == nil)
    // Until now nobody has answered at the directory.
    try pebble.start(http: server.http)
    waitForCertificates(1, of: server.program)
    let first = try shown(tls)
    #expect(try first != provisional && shown(https) == first)

    let device = try RunningProgram([
      "device", "--server", "localhost:\(port(tls))", "--ca", pebble.root, "--app-key", app.key, "--state",
      folder.path + "/device",
    ])
    while try device.document()["event"] != "logged_in" {}
    let call = try RunningProgram.run([
      "push", "--server", "https://localhost:\(port(https))", "--ca", pebble.root, "--app-key", app.key,
      "--master-secret", "wrong", "--all", "--message", "x",
    ])
    #expect(call.errors.contains("code 1004"))
    let (account, key) = (record?["account"]?.string, record?["certificate"]?["key"]?.string)

    // It is not due for a long time.
    unlink(recordPath)
    server.program.signal(SIGHUP)
    waitForCertificates(2, of: server.program)
    #expect(try shown(tls) != first)
    let renewed = record?["certificate"]?["key"]?.string
    #expect(account != nil && key != nil && renewed != nil && Set([account, key, renewed]).count == 3)
    #expect(record?["order"] == nil)
    let body: JSONValue = ["platform": "all", "audience": "all", "message": ["msg_content": "still here"]]
    #expect(try server.call("POST", "/v3/push", as: app, body: body).status == 200)
    #expect(try device.document()["event"] == "push", "nothing happened to the connection before")

    var status = stat()
    #expect(stat(recordPath, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(try server.call("GET", "/.well-known/acme-challenge/token").status == 404)
    #expect(try server.call("GET", "/metrics").body.contains("\nborealis_acme_failed_attempts 0"))
  }

  @Test(.onSQLite) func `The process that takes the server's place goes on with the certificate`() throws {
    let world = try UpgradeWorld(folder.path, pebble.settings)
    try pebble.start(http: world.server.http)
    waitForCertificates(1, of: world.server.program)
    let first = try shown(world.server.ready["device"])
    try world.start(
      "tls", count: 5, at: "localhost:\(port(world.server.ready["device"]))", ["--ca", pebble.root])
    #expect(try world.upgrade().status == 0)
    #expect(try shown(world.server.ready["device"]) == first)
    unlink(recordPath)
    kill(world.process, SIGHUP)
    waitForCertificates(2, of: world.server.program)
    #expect(try shown(world.server.ready["device"]) != first)
    world.expectNoReconnect("a renewal behind an upgrade")
    try world.stop()
  }

  #if DEBUG
    @Test(.onSQLite) func `A server whose upgrade fails obtains its certificate as before`() throws {
      let world = try UpgradeWorld(folder.path, pebble.settings)
      // It has stopped that by then.
      let (command, new) = try world.upgrade(stoppingAt: "old-holds")
      world.killAndWait(new)
      kill(world.process, SIGCONT)
      #expect(try command.end().status == 1)
      try pebble.start(http: world.server.http)
      waitForCertificates(1, of: world.server.program)
      _ = try shown(world.server.ready["device"])
      try world.stop()
    }
  #endif

  /// The process is killed when the certificate is issued, and before it asks for it a second later.
  @Test func `A killed server's order goes on in the next one, over TLS`() throws {
    let address = FixedPort.address()
    let arguments = ["--http-tls", address, "--acme-challenge", "tls-alpn-01"]
    try pebble.start(tls: address, refusing: 0)
    func count(_ text: String) -> Int { pebble.log.ranges(of: text).count }
    let (issued, ordered) = ("Issued certificate serial", "POST /order-plz ")
    // On a busy machine the kill may come too late.
    for _ in 0..<10 where record?["order"] == nil {
      unlink(recordPath)
      let before = count(issued)
      let server = try serve(arguments)
      let isIssued = RunningProgram.eventually { count(issued) > before }
      server.program.signal(SIGKILL)
      #expect(isIssued, "\(server.program.errors)")
      _ = try server.program.end()
    }
    try #require(record?["order"] != nil)
    let before = (issued: count(issued), ordered: count(ordered))
    let next = try serve(arguments)
    let isStored = RunningProgram.eventually { record?["certificate"] != nil }
    #expect(isStored, "\(next.program.errors)")
    let fingerprint = try shown(next.ready["http_tls"])
    #expect(count(issued) == before.issued && count(ordered) == before.ordered)
    #expect(record?["order"] == nil)

    #expect(throws: OpenSSLTool.Failure.self, "no order waits for it") {
      try OpenSSLTool().run("s_client -connect \(address) -servername localhost -alpn acme-tls/1")
    }
    // It is used from the start on, without the authority.
    pebble.kill()
    next.program.signal(SIGTERM)
    _ = try next.program.end()
    let last = try serve(arguments)
    #expect(try shown(last.ready["http_tls"]) == fingerprint)
  }

  /// What is wrong with a stored certificate.
  enum Flaw: CaseIterable { case isDue, isOfAnotherAuthority, hasAnotherKey }

  @Test(arguments: Flaw.allCases)
  func `A stored certificate is used if it can be, until there is a new one`(flaw: Flaw) throws {
    let tool = OpenSSLTool()
    let (account, key) = (try ES256Key.generate().pem, try ES256Key.generate().pem)
    try tool.write(Array(key.utf8), to: "key")
    try tool.run("req -new -key key -subj /CN=localhost -out request")
    try tool.run("x509 -req -in request -signkey key -days \(flaw == .isDue ? 0 : 30) -out certificate")
    let fingerprint = try CertificateInfo(pem: tool.text("certificate")).fingerprint
    let directory = flaw == .isOfAnotherAuthority ? "https://ca.example/" : pebble.directory
    // The rest of a new certificate, which nobody waits for if it is of no use.
    let rest = flaw == .isDue ? 0 : SystemTime().now().milliseconds + 86_400_000
    let stored: JSONValue = [
      "directory": .string(directory), "names": ["localhost"], "failures": 0,
      "earliest": .number(JSONNumber(rest)), "account": .string(account),
      "certificate": [
        "directory": .string(directory), "names": ["localhost"], "chain": .string(tool.text("certificate")),
        "key": .string(flaw == .hasAnotherKey ? account : key),
      ],
    ]
    try TestServer.initialize(data: folder.path + "/data")
    try TemporaryFolder.write(String(decoding: JSONWriter.serialize(stored), as: UTF8.self), to: recordPath)
    let server = try serve(["--http-tls", "127.0.0.1:0"])
    let present = try shown(server.ready["http_tls"], isTrusted: false)
    #expect((present == fingerprint) == (flaw != .hasAnotherKey))
    if flaw == .hasAnotherKey {
      try server.program.wait(forError: "reason=\"the key is not the one of the certificate\"")
    }
    try pebble.start(http: server.http)
    waitForCertificates(1, of: server.program)
    #expect(try shown(server.ready["http_tls"]) != fingerprint)
    #expect(record?["account"]?.string == account && record?["certificate"]?["key"]?.string != key)
  }

  @Test(arguments: [
    "", "{}", #"{"directory":"d","names":["a"],"failures":-1,"earliest":0}"#,
    #"{"directory":"d","names":["a"],"failures":9223372036854775807,"earliest":0}"#,
    #"{"directory":"d","names":["a"],"failures":0,"earliest":-9223372036854775808}"#,
    #"{"directory":"d","names":["a"],"failures":0,"earliest":0,"order":{"url":"https://a/"}}"#,
  ])
  func `A damaged file stops the start`(text: String) throws {
    let data = folder.path + "/data"
    try TestServer.initialize(data: data)
    try TemporaryFolder.write(text, to: recordPath)
    let ending = try RunningProgram.run(
      ["serve", "--data", data, "--http", "127.0.0.1:0", "--device", "127.0.0.1:0"] + pebble.settings)
    #expect(ending.status == 1)
    #expect(ending.errors.contains("acme.json cannot be read: restore it, or remove it"), "\(ending.errors)")
  }

  @Test func `A certificate that cannot be stored is used, and stored later`() throws {
    let server = try serve(["--http-tls", "127.0.0.1:0"])
    try pebble.start(http: server.http, refusing: 0)
    let isOrdered = RunningProgram.eventually { record?["order"] != nil }
    // The authority decides only after that, and is asked again a second later.
    server.program.signal(SIGSTOP)
    try #require(isOrdered && record?["certificate"] == nil, "\(server.program.errors)")
    let obstacle = recordPath + ".new"
    mkdir(obstacle, 0o700)
    server.program.signal(SIGCONT)
    try server.program.wait(forError: " error TLS certificate obtained but not stored ")
    let fingerprint = try shown(server.ready["http_tls"])
    #expect(record?["certificate"] == nil && record?["order"] != nil)
    rmdir(obstacle)
    server.program.signal(SIGHUP)
    waitForCertificates(1, of: server.program)
    #expect(try shown(server.ready["http_tls"]) == fingerprint)
    #expect(record?["certificate"] != nil && record?["order"] == nil)
    #expect(pebble.log.ranges(of: "POST /order-plz ").count == 1)
  }

  @Test func `Failures are seen, and a signal makes another attempt`() throws {
    let server = try serve(["--http-tls", "127.0.0.1:0"])
    // Nobody answers at the port that it asks at.
    try pebble.start(http: FixedPort.address(), refusing: 0)
    func wait(forFailures count: Int) {
      let isThere = RunningProgram.eventually {
        (try? server.call("GET", "/metrics").body.contains("\nborealis_acme_failed_attempts \(count)"))
          == true
      }
      #expect(isThere, "\(server.program.errors)")
    }
    wait(forFailures: 1)
    try server.program.wait(forError: " error TLS certificate not obtained ")
    #expect(server.program.errors.contains("localhost: "))
    #expect(try server.call("GET", "/readyz").status == 200)
    #expect(record?["order"] == nil && record?["failures"]?.int64 == 1)
    let next = record?["earliest"]?.int64 ?? 0
    #expect((800_000...900_000).contains(next - SystemTime().now().milliseconds))
    server.program.signal(SIGHUP)
    wait(forFailures: 2)

    // After another start as well.
    server.program.signal(SIGTERM)
    _ = try server.program.end()
    let orders = pebble.log.ranges(of: "POST /order-plz ").count
    let again = try serve(["--http-tls", "127.0.0.1:0"])
    again.program.signal(SIGHUP)
    let isTried = RunningProgram.eventually { pebble.log.ranges(of: "POST /order-plz ").count > orders }
    #expect(isTried)
    #expect(pebble.log.ranges(of: "POST /order-plz ").count == orders + 1)
  }

  @Test(arguments: [
    (["--acme-domain", "a.example"], "--acme-domain needs --acme-accept-terms"),
    (["--acme-email", "a@example.com"], "--acme-email is for certificates by ACME: give --acme-domain, too"),
    (["--acme-domain", "127.0.0.1", "--acme-accept-terms"], "is not a DNS name"),
    (["--acme-domain", "*.example.com", "--acme-accept-terms"], "is not a DNS name"),
    (["--acme-domain", "a.example,A.example", "--acme-accept-terms"], "each once"),
    (["--acme-domain", "a.example", "--tls-names", "b"], "--tls-names and --acme-domain exclude each other"),
    (
      ["--acme-domain", "a.example", "--acme-accept-terms", "--acme-directory", "http://ca.example/"],
      "--acme-directory: expected a URL"
    ),
    (
      ["--acme-domain", "a.example", "--acme-accept-terms", "--acme-email", "a@b?c"],
      "is not an address such as ops@example.com"
    ),
  ])
  func `Settings that contradict each other stop the start`(arguments: [String], message: String) throws {
    let data = folder.path + "/refused"
    let ending = try RunningProgram.run(
      ["serve", "--data", data, "--http", "127.0.0.1:0", "--device", "127.0.0.1:0"] + arguments)
    #expect(ending.status == 2)
    #expect(ending.errors.contains(message), "\(ending.errors)")
    #expect(access(data, F_OK) != 0)
  }

  @Test(arguments: [
    (["--http", "127.0.0.1:0", "--device-plain", "127.0.0.1:0"], "neither --device nor --http-tls"),
    (
      ["--http-tls", "127.0.0.1:0", "--device", "127.0.0.1:0", "--acme-challenge", "http-01"],
      "--acme-challenge http-01 needs --http"
    ),
  ])
  func `A certificate needs ports that use it, and one that is asked at`(
    arguments: [String], message: String
  ) throws {
    let ending = try RunningProgram.run(
      ["serve", "--data", folder.path + "/refused", "--acme-domain", "a.example", "--acme-accept-terms"]
        + arguments)
    #expect(ending.status == 2)
    #expect(ending.errors.contains(message), "\(ending.errors)")
  }
}
