import BorealisBase
import BorealisProtocol
import CLinux
import Glibc
import PushTesting
import Testing

@Suite struct ServeTests {
  let folder = TemporaryFolder()
  var data: String { folder.path + "/data" }

  @Test func `The ready line is all of the output and names ports that answer`() throws {
    let server = try TestServer(data: data, ["--device", "127.0.0.1:0", "--http-tls", "[::1]:0"])
    #expect(server.ready["event"]?.string == "ready")
    #expect(server.ready["pid"]?.int64 == Int64(server.program.processID))
    for name in ["http", "http_tls", "device", "device_plain"] {
      let address = try #require(server.ready[name]?.string)
      #expect(!address.hasSuffix(":0"), "\(name)")
      #expect(address.hasPrefix(name == "http_tls" ? "[::1]:" : "127.0.0.1:"))
    }
    for path in ["/healthz", "/readyz", "/metrics"] { #expect(try server.call("GET", path).status == 200) }
    _ = try TestDevice(server.device)
    server.program.signal(SIGINT)
    let ending = try server.program.end()
    #expect(ending.status == 0)
    #expect(ending.output.isEmpty)
    #expect(ending.errors.contains(" info serving "))
  }

  @Test func `An app made beside the running server works at once`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let other = try server.makeApp()
    let body: JSONValue = ["platform": "all", "audience": "all", "notification": ["alert": "Hi"]]
    let nobody = try server.call("POST", "/v3/push", as: app, body: body)
    #expect(nobody.status == 400)
    #expect(nobody.document?["error"]?["code"]?.int64 == 1011)
    for wrong in [(app.key, other.secret), (app.key, ""), (String(app.key.reversed()), app.secret)] {
      let refused = try server.call("POST", "/v3/push", as: wrong, body: body)
      #expect(refused.status == 401)
      #expect(refused.document?["error"]?["code"]?.int64 == 1004)
    }
  }

  @Test func `A running server follows what the operator does to an app`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "one")
    let device = try TestDevice.login(server.device, app: app.key, identity)
    func change(_ command: String) throws -> JSONValue? {
      try RunningProgram.run(["app", command, app.key, "--data", data]).documents.first ?? nil
    }

    _ = try change("disable")
    guard case .goAway(.appDisabled, _, _) = try device.next() else { throw TestDevice.Unexpected() }
    let refused = try server.push("x", to: identity, as: app)
    #expect(refused.status == 403)
    #expect(refused.document?["error"]?["code"]?.int64 == 2003)

    _ = try change("enable")
    #expect(try RunningProgram.eventually { try server.push("x", to: identity, as: app).status == 200 })

    let secret = try #require(try change("secret")?["master_secret"]?.string)
    #expect(try RunningProgram.eventually { try server.push("x", to: identity, as: app).status == 401 })
    #expect(try server.push("x", to: identity, as: (app.key, secret)).status == 200)
  }

  @Test func `Settings come from a file, variables and flags`() throws {
    let file = folder.path + "/borealis.conf"
    try TemporaryFolder.write("log-format = json\nlog-level = error\nloops = 1\n", to: file)
    // The flag of the line above the variable, the variable above the file.
    let server = try TestServer(
      data: data, ["--config", file],
      environment: ["BOREALIS_LOG_LEVEL": "info", "BOREALIS_HTTP": "192.0.2.1:1"])
    try server.program.wait(forError: "set up the console")
    server.program.signal(SIGTERM)
    let ending = try server.program.end()
    let lines = ending.errors.split(separator: "\n").map { try? parseJSON(Array($0.utf8)) }
    let messages = lines.map { $0?["message"]?.string }
    #expect(messages == ["serving", "set up the console, once", "stopping", "stopped"])
    #expect(lines.first??["loops"]?.int64 == 1)
  }

  @Test func `A mistyped variable is said, without its value`() throws {
    let wrong = [
      "BOREALIS_LOG_LEVLE": "sesame", "BOREALIS_FLEET": "sesame", "BOREALIS_PORT": "tcp://10.0.0.1:80",
    ]
    let server = try TestServer(data: data, environment: wrong)
    server.program.signal(SIGTERM)
    let errors = try server.program.end().errors
    let warnings = errors.split(separator: "\n").filter { $0.contains("unknown environment variable") }
    #expect(warnings.count == 2 && warnings.allSatisfy { $0.contains("warning") }, "\(errors)")
    #expect(warnings.first?.contains("name=BOREALIS_FLEET") == true, "\(errors)")
    #expect(
      warnings.last?.contains("name=BOREALIS_LOG_LEVLE did_you_mean=BOREALIS_LOG_LEVEL") == true, "\(errors)")
    #expect(!errors.contains("sesame"))
    // It may be why a setting is missing, of any command.
    let line = "borealis: unknown environment variable BOREALIS_DAAT; did you mean BOREALIS_DATA?\n"
    for command in [["serve"], ["app", "list"]] {
      let ending = try RunningProgram.run(command, environment: ["BOREALIS_DAAT": data])
      #expect(ending.status == 2)
      #expect(ending.errors == line + "borealis: --data is missing\n")
    }
  }

  @Test(arguments: [
    ([], "--data is missing"),
    (["--data", "/d", "--device-plain", "h:0"], "give --http or --http-tls"),
    (["--data", "/d", "--http", "h:0"], "give --device or --device-plain"),
    (["--data", "/d", "--http", "8080"], "--http: expected HOST:PORT, not \"8080\""),
    (["--data", "/d", "--http", "h:65536"], "--http: expected HOST:PORT, not \"h:65536\""),
    (["--log-format", "xml"], "--log-format: expected text or json, not \"xml\""),
    (["--loops", "0"], "--loops: expected a number from 1 to 256, not \"0\""),
    (
      ["--drain-delay", "5"], "--drain-delay: expected a duration such as 500ms, 30s, 5m, 2h or 1d, not \"5\""
    ),
    (["extra"], "unexpected argument \"extra\""),
    (["--config", "/nonexistent"], "--config: cannot read \"/nonexistent\""),
  ])
  func `Wrong settings are one line and status 2`(arguments: [String], message: String) throws {
    let ending = try RunningProgram.run(["serve"] + arguments)
    #expect(ending.status == 2)
    #expect(ending.output.isEmpty)
    #expect(ending.errors == "borealis: \(message)\n")
  }

  @Test(arguments: [
    (["--otlp-ca", "/c"], "--otlp-ca needs --otlp-endpoint"),
    (["--otlp-headers", "a=sesame"], "--otlp-headers needs --otlp-endpoint"),
    (["--trace-share", "0.5"], "--trace-share needs --otlp-endpoint"),
    (["--trace-share", "1.5"], "--trace-share: expected a number from 0 to 1 such as 0.01, not \"1.5\""),
    (["--trace-share", "1e-3"], "--trace-share: expected a number from 0 to 1 such as 0.01, not \"1e-3\""),
    (
      ["--otlp-endpoint", "h:4318"], "--otlp-endpoint: \"h:4318\" is not a URL such as http://127.0.0.1:4318"
    ),
    (
      ["--otlp-endpoint", "http://"],
      "--otlp-endpoint: \"http://\" is not a URL such as http://127.0.0.1:4318"
    ),
    (
      ["--otlp-endpoint", "http://h/?a"],
      "--otlp-endpoint: \"http://h/?a\" is not a URL such as http://127.0.0.1:4318"
    ),
    (
      ["--otlp-endpoint", "http://h", "--otlp-headers", "sesame"],
      "--otlp-headers: expected NAME=VALUE, separated by commas"
    ),
    (
      ["--otlp-endpoint", "http://h", "--otlp-headers", "a=open%0Asesame"],
      "--otlp-headers: expected NAME=VALUE, separated by commas"
    ),
  ])
  func `Settings of tracing that contradict each other`(arguments: [String], message: String) throws {
    let addresses = ["--data", data, "--http", "127.0.0.1:0", "--device-plain", "127.0.0.1:0"]
    let ending = try RunningProgram.run(["serve"] + addresses + arguments)
    #expect(ending.status == 2)
    #expect(ending.errors == "borealis: \(message)\n")
  }

  @Test(arguments: [
    (["--tls-certificate", "/c", "--device", "h:0"], "--tls-certificate needs --tls-key"),
    (["--tls-key", "/k", "--device", "h:0"], "--tls-key needs --tls-certificate"),
    (
      ["--tls-certificate", "/c", "--tls-key", "/k"],
      "--tls-certificate is given, but neither --device nor --http-tls, which use it"
    ),
    (
      ["--tls-certificate", "/c", "--tls-key", "/k", "--tls-names", "a.example", "--device", "h:0"],
      "--tls-names is for a generated certificate, but --tls-certificate is set"
    ),
    (["--heartbeat-min", "20m", "--heartbeat-max", "10m"], "--heartbeat-min is more than --heartbeat-max"),
    (["--heartbeat-min", "1s"], "--heartbeat-min: at least 10s"),
    (["--heartbeat-max", "2h"], "--heartbeat-max: at most 3600s"),
    (["--keep-pushes", "1h"], "--keep-pushes: at least 86400s"),
    (
      ["--time-zone", "Europe/Atlantis"],
      "--time-zone: there is no \"Europe/Atlantis\" in /usr/share/zoneinfo (package tzdata)"
    ),
    (
      ["--time-zone", "../../../etc/passwd"],
      "--time-zone: there is no \"../../../etc/passwd\" in /usr/share/zoneinfo (package tzdata)"
    ),
  ])
  func `Contradictions are one line and status 2`(arguments: [String], message: String) throws {
    let ending = try RunningProgram.run(
      ["serve", "--data", data, "--http", "127.0.0.1:0", "--device-plain", "127.0.0.1:0"] + arguments)
    #expect(ending.status == 2)
    #expect(ending.errors == "borealis: \(message)\n")
    #expect(access(data, F_OK) != 0, "nothing is made before the settings are known to be right")
  }

  private static let provider = [
    "--public-url", "http://127.0.0.1", "--oidc-issuer", "https://login.example.com", "--oidc-client-id", "b",
  ]

  @Test(arguments: [
    (["--oidc-client-id", "b"], "--oidc-client-id needs --oidc-issuer"),
    (["--oidc-trust-email"], "--oidc-trust-email needs --oidc-issuer"),
    (
      ["--oidc-issuer", "http://login.example.com"],
      "--oidc-issuer: \"http://login.example.com\" is not a URL such as https://login.example.com"
    ),
    (
      ["--oidc-issuer", "https://login.example.com"],
      "--oidc-issuer needs --public-url: the provider sends browsers back there"
    ),
    (
      ["--oidc-issuer", "https://login.example.com", "--public-url", "http://push.example.com"],
      "--oidc-issuer needs a --public-url with https, such as https://push.example.com"
    ),
    (provider, "--oidc-issuer needs --oidc-client-id and --oidc-client-secret"),
    (
      provider + ["--oidc-client-secret", "s", "--oidc-scopes", "email"],
      "--oidc-scopes: give scopes separated by commas, openid among them"
    ),
    (
      provider + ["--oidc-client-secret", "s", "--oidc-role-claim", "groups"],
      "--oidc-role-claim and --oidc-roles need each other"
    ),
    (
      provider + [
        "--oidc-client-secret", "s", "--oidc-role-claim", "groups", "--oidc-roles", "a=sender,b=boss",
      ],
      "--oidc-roles: \"b=boss\" is not VALUE=ROLE or VALUE=ROLE@DEVKEY with viewer, sender, admin or owner"
    ),
  ])
  func `Settings of the identity provider belong together`(arguments: [String], message: String) throws {
    let ending = try RunningProgram.run(
      ["serve", "--data", data, "--http", "127.0.0.1:0", "--device-plain", "127.0.0.1:0"] + arguments)
    #expect(ending.status == 2)
    #expect(ending.errors == "borealis: \(message)\n")
  }

  @Test(arguments: ["--apns-ca", "--callback-ca", "--vendor-ca", "--smtp-ca", "--oidc-ca"])
  func `A file without certificates to trust stops the start`(flag: String) throws {
    let text = folder.path + "/text"
    try TemporaryFolder.write("no certificate\n", to: text)
    let mail = [
      "--smtp-url", "smtp://127.0.0.1:1", "--smtp-from", "a@example.com", "--public-url", "http://127.0.0.1",
    ]
    let provider = Self.provider + ["--oidc-client-secret", "s"]
    for (file, reason) in [
      ("/nonexistent", "cannot read /nonexistent: No such file or directory\n"),
      (text, "\(text) cannot be used for TLS: "),
    ] {
      let ending = try RunningProgram.run(
        ["serve", "--data", data, "--http", "127.0.0.1:0", "--device-plain", "127.0.0.1:0", flag, file]
          + (flag == "--smtp-ca" ? mail : flag == "--oidc-ca" ? provider : []))
      #expect(ending.status == 2)
      #expect(ending.errors.hasPrefix("borealis: \(flag): \(reason)"), "\(ending.errors)")
      #expect(access(data, F_OK) != 0, "nothing is made before the settings are known to be right")
    }
  }

  @Test func `More connections than files may be open stop the start`() throws {
    let ending = try RunningProgram.run([
      "serve", "--data", data, "--http", "127.0.0.1:0", "--device-plain", "127.0.0.1:0", "--max-devices",
      "10000000",
    ])
    #expect(ending.status == 2)
    #expect(ending.errors.hasPrefix("borealis: 10000000 devices and 2048 HTTP connections need a limit of "))
  }

  @Test func `Two servers share neither a folder nor a port`() throws {
    let server = try TestServer(data: data)
    let plain = ["--device-plain", "127.0.0.1:0"]
    let sameFolder = try RunningProgram.run(
      ["serve", "--data", data, "--http", "127.0.0.1:0"] + plain)
    #expect(sameFolder.status == 1)
    #expect(sameFolder.errors == "borealis: another server uses \(data); stop it first\n")
    let samePort = try RunningProgram.run(
      ["serve", "--data", data + "2", "--http", server.http] + plain)
    #expect(samePort.status == 1)
    #expect(
      samePort.errors == "borealis: --http: cannot listen on \(server.http): the address is in use\n")
  }

  @Test func `A log line names a request and nothing that is secret`() throws {
    let server = try TestServer(data: data, ["--log-level", "debug"])
    let app = try server.makeApp()
    let body: JSONValue = [
      "platform": "all", "audience": ["alias": ["wonderland"]], "message": ["msg_content": "x"],
    ]
    let answer = try server.call(
      "POST", "/v3/push?q=wonderland", as: app, headers: ["X-Request-Id: my-request"], body: body)
    #expect(answer.head.lowercased().contains("\r\nx-request-id: my-request"))
    _ = try server.call("GET", "/v3/aliases/wonderland", as: app)
    server.program.signal(SIGTERM)
    let errors = try server.program.end().errors
    let line = errors.split(separator: "\n").first { $0.contains("id=my-request ") }
    #expect(line?.contains(" method=POST path=/v3/push status=400 app=\(app.key) ") == true)
    #expect(errors.contains(" path=/v3/aliases/{alias} status=200 "))
    for secret in [app.secret, "wonderland"] { #expect(!errors.contains(secret)) }
  }

  @Test func `systemd is told when the server is ready and when it stops`() throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = folder.path + "/notify"
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let manager = socket(AF_UNIX, SocketKind.closingDatagrams, 0)
    defer { close(manager) }
    let isBound = withUnsafeBytes(of: &address) { raw in
      guard let start = raw.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
      return bind(manager, start, socklen_t(raw.count)) == 0
    }
    try #require(isBound)
    let server = try TestServer(data: data, environment: ["NOTIFY_SOCKET": path])
    server.program.signal(SIGTERM)
    #expect(try server.program.end().status == 0)
    // All was sent by now, so that nothing is waited for.
    let states = (0..<3).map { _ in
      var buffer = [UInt8](repeating: 0, count: 100)
      let count = recv(manager, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
    }
    #expect(states == ["READY=1", "STOPPING=1", ""])
  }
}
