import BorealisBase
import Glibc
import PushTesting
import Testing

/// The certificate that a server shows, as its clients see it.
@Suite struct CertificateTests {
  let folder = TemporaryFolder()

  /// What `borealis push` says of a server whose certificate it trusts or not. The app does not exist.
  func pushErrors(_ server: TestServer, trusting certificate: String) throws -> String {
    try RunningProgram.run([
      "push", "--server", "https://\(server.ready["http_tls"]?.string ?? "")", "--ca", certificate,
      "--app-key", "0123456789abcdef01234567", "--master-secret", "x", "--all", "--message", "x",
    ]).errors
  }

  func serve(_ name: String, _ arguments: [String] = []) throws -> TestServer {
    try TestServer(data: folder.path + "/" + name, ["--http-tls", "127.0.0.1:0"] + arguments)
  }

  @Test func `A certificate is made once, and its key is its owner's alone`() throws {
    let first = try serve("a")
    let path = try #require(first.ready["certificate"]?.string)
    let made = TemporaryFolder.read(path)
    #expect(try pushErrors(first, trusting: path).contains("code 1004"))
    for (name, mode) in [("", UInt32(0o700)), ("/key.pem", 0o600)] {
      var status = stat()
      #expect(stat(folder.path + "/a/tls" + name, &status) == 0)
      #expect(status.st_mode & 0o777 == mode, "\(name)")
    }
    first.program.signal(SIGTERM)
    _ = try first.program.end()
    let second = try serve("a")
    #expect(TemporaryFolder.read(path) == made)
    #expect(try pushErrors(second, trusting: path).contains("code 1004"))
  }

  @Test func `SIGHUP renews the operator's certificate; a broken one changes nothing`() throws {
    let (certificate, key) = (folder.path + "/certificate.pem", folder.path + "/key.pem")
    let pairs = try ["a", "b"].map { name in
      let maker = try serve(name)
      let path = try #require(maker.ready["certificate"]?.string)
      return (certificate: path, key: folder.path + "/\(name)/tls/key.pem")
    }
    func install(_ pair: (certificate: String, key: String)) throws {
      try TemporaryFolder.write(TemporaryFolder.read(pair.certificate), to: certificate)
      try TemporaryFolder.write(TemporaryFolder.read(pair.key), to: key)
    }
    try install(pairs[0])
    let server = try serve("c", ["--tls-certificate", certificate, "--tls-key", key])
    #expect(try pushErrors(server, trusting: pairs[0].certificate).contains("code 1004"))

    try install((pairs[1].certificate, pairs[0].key))
    server.program.signal(SIGHUP)
    try server.program.wait(forError: "TLS certificate not reloaded")
    #expect(try pushErrors(server, trusting: pairs[0].certificate).contains("code 1004"))

    try install(pairs[1])
    server.program.signal(SIGHUP)
    try server.program.wait(forError: "TLS certificate reloaded")
    #expect(try pushErrors(server, trusting: pairs[1].certificate).contains("code 1004"))
    #expect(try pushErrors(server, trusting: pairs[0].certificate).contains("certificate refused"))
  }

  @Test(arguments: [([], "certificate refused"), (["--tls-names", "a.example,127.0.0.2"], "code 1004")])
  func `The certificate carries the names that are asked for`(arguments: [String], outcome: String) throws {
    let server = try TestServer(data: folder.path + "/a", ["--http-tls", "127.0.0.2:0"] + arguments)
    let path = try #require(server.ready["certificate"]?.string)
    #expect(try pushErrors(server, trusting: path).contains(outcome))
  }

  @Test func `Files that do not belong together stop the start`() throws {
    for name in ["a", "b"] { _ = try serve(name) }
    func start(_ certificate: String, _ key: String) throws -> Ending {
      try RunningProgram.run([
        "serve", "--data", folder.path + "/c", "--http", "127.0.0.1:0", "--device", "127.0.0.1:0",
        "--tls-certificate", certificate, "--tls-key", key,
      ])
    }
    let (a, b) = (folder.path + "/a/tls", folder.path + "/b/tls")
    let mismatch = try start(a + "/certificate.pem", b + "/key.pem")
    #expect(mismatch.status == 2)
    #expect(
      mismatch.errors == "borealis: the key in \(b)/key.pem is not the one of \(a)/certificate.pem\n")
    let missing = try start(a + "/none.pem", a + "/key.pem")
    #expect(missing.status == 2)
    #expect(missing.errors == "borealis: cannot read \(a)/none.pem: No such file or directory\n")
    let swapped = try start(a + "/key.pem", a + "/key.pem")
    #expect(swapped.status == 2)
    #expect(swapped.errors.hasPrefix("borealis: \(a)/key.pem cannot be used for TLS: "))
    #expect(access(folder.path + "/c", F_OK) != 0, "nothing is made before the files are known to be right")
  }

  @Test(arguments: ["certificate.pem", "key.pem"])
  func `A certificate or key that is left alone is not replaced`(missing: String) throws {
    let first = try serve("a")
    let tls = folder.path + "/a/tls"
    let app = try first.makeApp()
    _ = try TestDevice.register(first.device, app: app.key, install: "one")
    first.program.signal(SIGTERM)
    #expect(try !first.program.end().errors.contains("created a TLS certificate"))
    let files = ["certificate.pem", "key.pem"].map { "\(tls)/\($0)" }
    #expect(unlink("\(tls)/\(missing)") == 0)
    let before = files.map { TemporaryFolder.read($0) }
    let refused = try RunningProgram.run([
      "serve", "--data", folder.path + "/a", "--http-tls", "127.0.0.1:0", "--device-plain", "127.0.0.1:0",
    ])
    #expect(refused.status == 1)
    #expect(refused.errors.hasPrefix("borealis: \(tls)/\(missing) is missing: restore it, or remove \(tls) "))
    #expect(files.map { TemporaryFolder.read($0) } == before)

    for file in files { unlink(file) }
    let second = try serve("a")
    try second.program.wait(forError: "created a TLS certificate for a database that has registrations")
  }

  @Test func `An expired certificate is called so`() throws {
    let tool = OpenSSLTool()
    let config = [
      "[ca]", "default_ca = own", "[own]", "database = index", "serial = serial", "default_md = sha256",
      "policy = policy", "new_certs_dir = .", "[policy]", "commonName = supplied", "",
    ]
    let texts = ["config": config.joined(separator: "\n"), "index": "", "serial": "01\n"]
    for (name, text) in texts { try tool.write(Array(text.utf8), to: name) }
    try tool.run(
      "req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out request.pem -subj /CN=a"
    )
    try tool.run(
      "ca -batch -notext -selfsign -config config -keyfile key.pem -in request.pem -out certificate.pem "
        + "-startdate 200101000000Z -enddate 210101000000Z")
    let (certificate, key) = (folder.path + "/certificate.pem", folder.path + "/key.pem")
    try TemporaryFolder.write(tool.text("certificate.pem"), to: certificate)
    try TemporaryFolder.write(tool.text("key.pem"), to: key)
    let server = try serve("a", ["--tls-certificate", certificate, "--tls-key", key])
    try server.program.wait(forError: " error TLS certificate has expired ")
  }
}
