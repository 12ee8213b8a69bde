import BorealisBase
import Glibc
import PushTesting
import Testing

/// `borealis app channel` for APNs, with files made by the `openssl` command.
@Suite struct APNsCredentialTests {
  let folder = TemporaryFolder()
  var data: String { folder.path + "/data" }

  private func makeApp() throws -> String {
    try TestServer.makeApp(data: data).key
  }

  private func apns(
    _ arguments: [String], environment: [String: String] = [:], input: String = ""
  ) throws -> Ending {
    var arguments = arguments
    if arguments.first == "set" { arguments.insert("apns", at: 2) }
    return try RunningProgram.run(
      (arguments.first == "reseal" ? [] : ["app", "channel"]) + arguments + ["--data", data],
      environment: environment, input: input)
  }

  private func openssl(_ command: String, _ more: [String] = []) throws {
    let words = command.split(separator: " ").map(String.init)
    let path = "/usr/bin:/bin:/usr/local/bin"
    let ending = try RunningProgram(
      ["openssl"] + words + more, of: "/usr/bin/env", environment: ["PATH": path]
    )
    .end()
    guard ending.status == 0 else { throw RunningProgram.Failure(description: ending.errors) }
  }

  /// A .p8 file under the name that Apple gives it.
  private func makeKey(_ name: String = "AuthKey_ABC123DEFG.p8") throws -> String {
    let path = folder.path + "/" + name
    try openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out", [path])
    return path
  }

  /// A certificate for both environments with its key: `certificate.pem`, `key.pem`, and, as Keychain wrote
  /// it for years, `push.p12` with the password `geheim`.
  private func makeCertificate(days: Int = 30) throws -> (certificate: String, key: String, p12: String) {
    let files = (folder.path + "/certificate.pem", folder.path + "/key.pem", folder.path + "/push.p12")
    try openssl(
      "req -x509 -newkey rsa:2048 -nodes -days \(days)",
      [
        "-keyout", files.1, "-out", files.0, "-subj",
        "/UID=com.example.app/CN=Apple Push Services: com.example.app/OU=TEAM123456", "-addext",
        "1.2.840.113635.100.6.3.1=ASN1:NULL", "-addext", "1.2.840.113635.100.6.3.2=ASN1:NULL",
      ])
    try openssl(
      "pkcs12 -export -legacy -passout pass:geheim", ["-inkey", files.1, "-in", files.0, "-out", files.2])
    return files
  }

  @Test func `A key is stored sealed, listed without its secret, and used from then on`() throws {
    let key = try makeApp()
    let file = try makeKey()
    let set = try apns([
      "set", key, "--p8", file, "--team-id", "TEAM123456", "--topic", "com.example.app", "--environment",
      "both",
    ])
    #expect(set.status == 0, "\(set.errors)")
    let listed = try apns(["list", key])
    #expect(listed.output == set.output)
    #expect(listed.documents.map { $0?["environment"]?.string } == ["production", "sandbox"])
    for document in listed.documents {
      #expect(document?["kind"]?.string == "token")
      #expect(document?["key_id"]?.string == "ABC123DEFG")
      #expect(document?["team_id"]?.string == "TEAM123456")
      #expect(document?["subject"]?.string == "com.example.app")
      #expect(document?["state"]?.string == "active")
      #expect(document?["days_left"] == nil)
    }
    let secret = TemporaryFolder.read(file).split(separator: "\n")[1]
    for name in TemporaryFolder.files(data) {
      #expect(!TemporaryFolder.read("\(data)/\(name)").contains(secret), "\(name)")
    }
    var status = stat()
    #expect(stat(data + "/secret-key", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    #expect(
      try apns(["set", key, "--p8", file, "--team-id", "TEAM123456", "--topic", "com.example.app"]).errors
        == "borealis: the app already uses this credential for production: it is number 1\n")
  }

  @Test func `A certificate says itself what it is for; its password comes from a file or standard input`()
    throws
  {
    let key = try makeApp()
    let files = try makeCertificate()
    let password = folder.path + "/password"
    try TemporaryFolder.write("geheim\n", to: password)
    let set = try apns(["set", key, "--p12", files.p12, "--password-file", password])
    #expect(set.status == 0, "\(set.errors)")
    #expect(set.documents.map { $0?["subject"]?.string } == ["com.example.app", "com.example.app"])
    #expect(set.documents.map { $0?["team_id"]?.string } == ["TEAM123456", "TEAM123456"])
    #expect(
      set.documents.allSatisfy {
        $0?["days_left"] == .number(JSONNumber(29)) || $0?["days_left"] == .number(JSONNumber(30))
      })
    let other = try RunningProgram.run(["app", "create", "B", "--data", data])
    let second = try #require(other.documents.first??["app_key"]?.string)
    let typed = try apns(["set", second, "--p12", files.p12, "--environment", "sandbox"], input: "geheim\n")
    #expect(typed.status == 0, "\(typed.errors)")
    #expect(typed.documents.count == 1)
    for (input, message) in [
      ("Geheim\n", "the password is wrong"), ("", "it is protected by a password: enter it"),
    ] {
      let refused = try apns(["set", second, "--p12", files.p12], input: input)
      #expect(refused.status == 1)
      #expect(refused.errors == "borealis: \(files.p12): \(message)\n")
    }
    let pem = try apns([
      "set", second, "--certificate", files.certificate, "--key", files.key, "--environment", "production",
    ])
    #expect(pem.documents.map { $0?["kind"]?.string } == ["certificate", "certificate"])
  }

  @Test func `Whatever is wrong is named`() throws {
    let key = try makeApp()
    let file = try makeKey()
    let plain = try makeKey("key.p8")
    let files = try makeCertificate()
    let rest = ["--team-id", "TEAM123456", "--topic", "com.example.app"]
    let wrong: [([String], Int32, String)] = [
      ([], 2, "a credential is missing: pass --p8, --p12, or --certificate and --key"),
      (["--p8", file, "--p12", files.p12], 2, "pass only one of --p8, --p12, and --certificate with --key"),
      (["--certificate", files.certificate], 2, "--certificate requires --key"),
      (["--p8", plain] + rest, 2, "--key-id: the key ID is missing"),
      (
        ["--p8", plain, "--key-id", "abc"] + rest, 2,
        "--key-id: \"abc\" is not a key ID: enter 10 characters of A-Z and 0-9"
      ),
      (["--p8", file], 2, "--team-id: the team ID is missing"),
      (["--p8", file, "--team-id", "TEAM123456"], 2, "--topic: the app's bundle ID is missing"),
      (
        ["--p8", files.certificate] + rest, 1,
        "\(files.certificate): it contains a certificate; upload a private key"
      ),
      (["--p8", files.p12] + rest, 1, "\(files.p12): it is a binary file, perhaps a .p12"),
      (["--p8", files.key] + rest, 1, "\(files.key): its key is an RSA key"),
      (["--p8", "/nonexistent"] + rest, 1, "cannot read /nonexistent: No such file or directory"),
      (["--p8", folder.path] + rest, 1, "cannot read \(folder.path): Is a directory"),
      (
        ["--p8", file, "--team-id", "TEAM123456", "--topic", "com.example.app.voip"], 2,
        #"--topic: "com.example.app.voip" is the topic of one kind of push: enter the app's bundle ID, com.example.app"#
      ),
      (
        ["--p8", file, "--team-id", "TEAM123456", "--topic", "com.example.app.push-type.liveactivity"], 2,
        #"--topic: "com.example.app.push-type.liveactivity" is the topic of one kind of push"#
      ),
      (["--p12", file], 1, "\(file): it is not a PKCS #12 file"),
      (
        ["--certificate", files.certificate, "--key", file], 1,
        "\(file): the private key belongs to another certificate"
      ),
      (
        ["--certificate", files.certificate, "--key", files.key, "--topic", "com.example.other"], 1,
        "\(files.certificate): this certificate is for com.example.app (production and sandbox); "
          + "the app's topic is com.example.other"
      ),
      (
        ["--certificate", files.certificate, "--key", files.key, "--key-id", "ABC123DEFG"], 2,
        "--key-id requires --p8"
      ),
    ]
    for (arguments, status, message) in wrong {
      let refused = try apns(["set", key] + arguments)
      #expect(refused.status.number == status, "\(arguments): \(refused.errors)")
      #expect(refused.errors.hasPrefix("borealis: \(message)"), "\(refused.errors)")
      #expect(refused.errors.split(separator: "\n").count == 1)
    }
    #expect(try apns(["list", key]).output.isEmpty)
    #expect(access(data + "/secret-key", F_OK) != 0, "nothing was stored, so no key was needed")
    // The app's topic is that of its first credential.
    #expect(try apns(["set", key, "--p8", file] + rest).status == 0)
    let other = try apns([
      "set", key, "--p8", plain, "--key-id", "ZZZZZZZZZZ", "--team-id", "TEAM123456", "--topic",
      "com.example.b",
    ])
    #expect(
      other.errors.hasPrefix(
        "borealis: this credential is for com.example.b; the app's topic is com.example.app."))
    let unknown = String(key.reversed())
    #expect(try apns(["list", unknown]).errors == "borealis: no app has the key \(unknown)\n")
  }

  @Test func `Credentials are replaced, paused, resumed and removed`() throws {
    let key = try makeApp()
    let rest = ["--team-id", "TEAM123456", "--topic", "com.example.app"]
    for name in ["AuthKey_AAAAAAAAAA.p8", "AuthKey_BBBBBBBBBB.p8"] {
      #expect(try apns(["set", key, "--p8", makeKey(name)] + rest).status == 0)
    }
    let states = { (ending: Ending) in ending.documents.map { $0?["state"]?.string } }
    #expect(states(try apns(["list", key])) == ["retiring", "active"])
    let paused = try apns(["pause", key, "2", "--reason", "revoked"])
    #expect(states(paused) == ["retiring", "paused"])
    #expect(paused.documents.last??["reason"]?.string == "revoked")
    #expect(states(try apns(["resume", key, "2"])) == ["retiring", "active"])
    #expect(states(try apns(["remove", key, "2"])) == ["active"])
    #expect(try apns(["remove", key, "2"]).errors == "borealis: the app has no credential 2\n")
    #expect(try apns(["remove", key, "x"]).status == 2)
    #expect(try apns(["remove", key, "1"]).output.isEmpty)
  }

  @Test func `A running server follows`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let files = try makeCertificate()
    let name = "borealis_apns_credential_expiry_seconds"
    let row = #"\#(name){app="\#(app.key)",kind="certificate",environment="sandbox"} 25"#
    #expect(try !server.call("GET", "/metrics").body.contains("\(name){"))
    #expect(
      try apns([
        "set", app.key, "--certificate", files.certificate, "--key", files.key, "--environment", "sandbox",
      ])
      .status == 0)
    #expect(try RunningProgram.eventually { try server.call("GET", "/metrics").body.contains(row) })
    #expect(try apns(["pause", app.key, "1"]).status == 0)
    #expect(
      try RunningProgram.eventually {
        try server.call("GET", "/metrics").body.contains("borealis_apns_credentials_unusable 1.0")
      })
    #expect(try apns(["remove", app.key, "1"]).status == 0)
    #expect(try RunningProgram.eventually { try !server.call("GET", "/metrics").body.contains("\(name){") })
  }

  @Test func `The secret key is replaced`() throws {
    let key = try makeApp()
    let file = data + "/secret-key"
    let rest = ["--team-id", "TEAM123456", "--topic", "com.example.app", "--environment", "both"]
    #expect(try apns(["set", key, "--p8", makeKey()] + rest).status == 0)
    let old = TemporaryFolder.read(file)
    let new = "borealis-secret-key-1 " + String(repeating: "5a", count: 32) + "\n"
    // The old key is not there: nothing is changed.
    try TemporaryFolder.write(new, to: file)
    let refused = try apns(["reseal"])
    #expect(refused.status == 1)
    #expect(refused.errors.hasPrefix("borealis: the secret key file \(file) is not that of this database: "))
    try TemporaryFolder.write(new + old, to: file)
    #expect(try apns(["reseal"]).documents.first??["resealed"]?.int64 == 2)
    try TemporaryFolder.write(new, to: file)
    let server = try TestServer(data: data)
    #expect(try server.call("GET", "/metrics").body.contains("borealis_apns_credentials_unusable 0.0"))
  }

  @Test func `The secret key may live elsewhere, and its loss is told`() throws {
    let key = try makeApp()
    let rest = ["--team-id", "TEAM123456", "--topic", "com.example.app"]
    let elsewhere = ["BOREALIS_SECRET_KEY_FILE": folder.path + "/elsewhere"]
    #expect(try apns(["set", key, "--p8", makeKey()] + rest, environment: elsewhere).status == 0)
    #expect(access(data + "/secret-key", F_OK) != 0)
    let lost = try apns(["set", key, "--p8", makeKey("AuthKey_BBBBBBBBBB.p8")] + rest)
    #expect(lost.status == 1)
    #expect(
      lost.errors.hasPrefix(
        "borealis: the secret key file \(data)/secret-key is missing, and secrets in the database are sealed")
    )
    let start = ["serve", "--data", data, "--http", "127.0.0.1:0", "--device-plain", "127.0.0.1:0"]
    let missing = try RunningProgram.run(start)
    #expect(missing.status == 1)
    #expect(missing.errors.contains("borealis: the secret key file \(data)/secret-key is missing"))
    let foreign = data + "/secret-key"
    try TemporaryFolder.write(
      "borealis-secret-key-1 " + String(repeating: "5a", count: 32) + "\n", to: foreign)
    chmod(foreign, 0o600)
    for arguments in [
      start,
      ["app", "channel", "set", key, "apns", "--data", data, "--p8", try makeKey("AuthKey_BBBBBBBBBB.p8")]
        + rest,
      ["app", "callback", "set", key, "--data", data], ["reseal", "--data", data],
    ] {
      let ending = try RunningProgram.run(arguments)
      #expect(ending.status == 1, "\(arguments)")
      #expect(
        ending.errors.contains("borealis: the secret key file \(foreign) is not that of this database: "),
        "\(arguments): \(ending.errors)")
    }
    let server = try TestServer(data: data, environment: elsewhere)
    #expect(try server.call("GET", "/metrics").body.contains("borealis_apns_credentials_unusable 0.0"))
    chmod(folder.path + "/elsewhere", 0o644)
    let open = try apns(
      ["set", key, "--p8", makeKey("AuthKey_CCCCCCCCCC.p8")] + rest, environment: elsewhere)
    #expect(
      open.errors.hasPrefix("borealis: everybody on this machine may read or change \(folder.path)/elsewhere")
    )
  }

  @Test func `What a lost secret key had sealed can be forgotten`() throws {
    let key = try makeApp()
    let rest = ["--team-id", "TEAM123456", "--topic", "com.example.app"]
    #expect(try apns(["set", key, "--p8", makeKey()] + rest).status == 0)
    #expect(try RunningProgram.run(["app", "callback", "set", key, "--data", data]).status == 0)
    let file = data + "/secret-key"
    let own = TemporaryFolder.read(file)
    // The refusal of another key file names the lost key.
    try TemporaryFolder.write("borealis-secret-key-1 " + String(repeating: "5a", count: 32) + "\n", to: file)
    chmod(file, 0o600)
    let refusal = try apns(["reseal"])
    #expect(refusal.status == 1)
    let id = String(try #require(refusal.errors.split(separator: "--forget-lost ").last).prefix(16))
    try TemporaryFolder.write(own, to: file)
    // A key that is there is not lost.
    let kept = try apns(["reseal", "--forget-lost", id])
    #expect(kept.status == 1 && kept.errors.contains("the key \(id) is not lost"), "\(kept.errors)")
    #expect(try apns(["reseal", "--forget-lost", "all"]).status == 2)
    #expect(
      try apns(["reseal", "--forget-lost", "0011223344556677"]).documents.first??["forgotten"]?.int64 == 0)
    unlink(file)
    #expect(try apns(["reseal"]).status == 1)
    // The file may just be elsewhere.
    #expect(try apns(["reseal", "--forget-lost", id]).status == 1)
    let forgotten = try apns(["reseal", "--forget-lost", id, "--secret-key-file", file]).documents.first
    #expect(forgotten??["forgotten"]?.int64 == 2)
    #expect(
      forgotten??["removed"]?.array?.compactMap(\.string) == [
        "APNs credential 1 of the app \(key)", "callbacks of the app \(key)",
      ])
    let server = try TestServer(data: data)
    #expect(try server.call("GET", "/metrics").body.contains("borealis_apns_credentials_unusable 0.0"))
    #expect(try apns(["list", key]).output == "")
    #expect(try apns(["set", key, "--p8", makeKey()] + rest).status == 0)
  }
}
