import BorealisBase
import BorealisCrypto
import BorealisProtocol
import PushTesting
import Testing

@Suite struct PushCommandTests {
  let folder = TemporaryFolder()

  /// A server with an app and a device that is online.
  struct Scene {
    let server: TestServer
    let app: TestServer.App
    let identity: TestDevice.Identity
    let device: TestDevice

    init(_ folder: TemporaryFolder, _ arguments: [String] = []) throws {
      server = try TestServer(data: folder.path + "/data", arguments)
      app = try server.makeApp()
      identity = try TestDevice.register(server.device, app: app.key, install: "one")
      device = try TestDevice.login(server.device, app: app.key, identity)
    }

    func push(_ arguments: [String], input: String = "") throws -> Ending {
      try RunningProgram.run(
        ["push", "--server", "http://\(server.http)/", "--app-key", app.key] + arguments,
        environment: ["BOREALIS_MASTER_SECRET": app.secret], input: input)
    }
  }

  @Test func `A push arrives as the flags say`() throws {
    let scene = try Scene(folder)
    let ending = try scene.push([
      "--registration-id", scene.identity.id.text, "--alert", "你好", "--title", "Title", "--message", "{}",
      "--time-to-live", "60",
    ])
    #expect(ending.status == 0, "\(ending.errors)")
    let arrival = try scene.device.arrival()
    #expect(ending.documents.first??["msg_id"]?.string == arrival.id)
    let text = String(decoding: JSONWriter.serialize(arrival.content), as: UTF8.self)
    for part in ["你好", "Title", "\"{}\""] { #expect(text.contains(part), "\(text)") }
  }

  @Test(arguments: DeviceKeyKind.allCases)
  func `What is enciphered for a device is read by it alone`(kind: DeviceKeyKind) throws {
    let scene = try Scene(folder)
    let arguments = [
      "--registration-id", scene.identity.id.text, "--alert", "Secret", "--message", "Hush", "--encrypt",
    ]
    let early = try scene.push(arguments)
    #expect(early.status == 1)
    #expect(early.errors.contains("has no key"))
    let key = try DevicePrivateKey(kind)
    try scene.device.send(.operation(sequence: 1, .setKey(DeviceKey(kind, key.publicKey.bytes))))
    guard case .result(1, .ok, _) = try scene.device.next() else { throw TestDevice.Unexpected() }
    let ending = try scene.push(arguments + ["--neutral", "News"])
    #expect(ending.status == 0, "\(ending.errors)")
    let content = try scene.device.arrival().content
    #expect(content["notification"]?["alert"] == "News")
    for (part, plain) in [
      ("notification", #"{"alert":"Secret"}"#), ("message", #"{"msg_content":"Hush"}"#),
    ] {
      let encrypted = content[part]?["encrypted"]
      #expect(encrypted?["key"]?.string == key.publicKey.id.text)
      #expect(encrypted?["alg"]?.string == kind.coding.rawValue)
      let data = try #require(encrypted?["data"]?.string.flatMap { Base64.decode($0.utf8) })
      #expect(try String(decoding: key.open(data), as: UTF8.self) == plain)
    }
  }

  @Test func `To everybody, to a tag, to an alias`() throws {
    let scene = try Scene(folder)
    try scene.device.send(.operation(sequence: 1, .setAlias("alice")))
    _ = try scene.device.next()
    try scene.device.send(.operation(sequence: 2, .setTags(["red", "blue"])))
    _ = try scene.device.next()
    for audience in [["--all"], ["--alias", "nobody,alice"], ["--tag=blue,green"]] {
      let ending = try scene.push(audience + ["--message", "x"])
      #expect(ending.status == 0, "\(audience): \(ending.errors)")
      #expect(try scene.device.arrival().id == ending.documents.first??["msg_id"]?.string)
    }
    let nobody = try scene.push(["--tag", "green", "--message", "x"])
    #expect(nobody.status == 1)
    #expect(nobody.errors.hasPrefix("borealis: refused (status 400, code 1011): "))
  }

  @Test func `A push object from standard input, over TLS`() throws {
    let scene = try Scene(folder, ["--http-tls", "127.0.0.1:0"])
    let address = try #require(scene.server.ready["http_tls"]?.string)
    let certificate = try #require(scene.server.ready["certificate"]?.string)
    let secret = folder.path + "/secret"
    try TemporaryFolder.write(scene.app.secret + "\n", to: secret)
    let arguments = [
      "push", "--server", "https://\(address)", "--app-key", scene.app.key, "--master-secret-file", secret,
      "--file", "-",
    ]
    let object = #"{"platform":"all","audience":"all","message":{"msg_content":"from a file"}}"#
    let ending = try RunningProgram.run(arguments + ["--ca", certificate], input: object)
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try scene.device.arrival().id == ending.documents.first??["msg_id"]?.string)
    let distrusting = try RunningProgram.run(arguments, input: object)
    #expect(distrusting.status == 1)
    #expect(distrusting.errors.hasPrefix("borealis: no TLS with \(address): certificate refused: "))
  }

  @Test func `A wrong secret is told`() throws {
    let scene = try Scene(folder)
    let ending = try RunningProgram.run(
      ["push", "--server", scene.server.http, "--app-key", scene.app.key, "--all", "--message", "x"],
      environment: ["BOREALIS_MASTER_SECRET": "0123456789abcdef01234567"])
    #expect(ending.status == 1)
    #expect(
      ending.errors
        == "borealis: refused (status 401, code 1004): The key is unknown or the secret is wrong\n")
  }

  @Test func `A server that is not there is told`() throws {
    let scene = try Scene(folder)
    scene.server.program.signal(9)
    _ = try scene.server.program.end()
    let ending = try scene.push(["--all", "--message", "x"])
    #expect(ending.status == 1)
    #expect(ending.errors.hasPrefix("borealis: cannot connect to \(scene.server.http): "))
  }

  @Test(arguments: mistakes)
  func `Wrong usage is one line and status 2`(arguments: [String], message: String) throws {
    let ending = try RunningProgram.run(["push"] + arguments)
    #expect(ending.status == 2)
    #expect(ending.errors == "borealis: \(message)\n")
  }

  static let mistakes: [([String], String)] = [
    ([], "--server is missing"),
    (["--server", "ftp://h"], "--server: expected an http or https URL, not \"ftp://h\""),
    (
      ["--server", "http://h/path"],
      "--server: expected a URL such as http://127.0.0.1:8080, not \"http://h/path\""
    ),
    (["--server", "http://h"], "--app-key is missing"),
    (["--server", "h", "--app-key", "k"], "give --master-secret-file or BOREALIS_MASTER_SECRET"),
    (basis, "give --all, --alias, --tag, --registration-id or --file"),
    (basis + ["--all"], "give --alert or --message"),
    (
      basis + ["--all", "--tag", "t", "--alert", "x"],
      "--all and --tag exclude each other: pass only one of them"
    ),
    (
      basis + ["--file", "/f", "--alert", "x"],
      "--file holds the whole push: remove --alert"
    ),
    (
      basis + ["--encrypt", "--all", "--alert", "x"],
      "--encrypt is for single devices: give --registration-id"
    ),
    (
      basis + ["--encrypt", "--registration-id", "x", "--tag", "t", "--alert", "x"],
      "--encrypt and --tag exclude each other: pass --registration-id"
    ),
    (basis + ["--file", "/nonexistent"], "--file: cannot read \"/nonexistent\""),
    (
      basis + ["--all", "--alert", "x", "--time-to-live", "864001"],
      "--time-to-live: expected a number from 0 to 864000, not \"864001\""
    ),
  ]

  static let basis = ["--server", "http://h", "--app-key", "k", "--master-secret", "s"]
}
