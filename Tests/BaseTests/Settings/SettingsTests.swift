import BorealisBase
import Testing

@Suite struct SettingsTests {
  static let definitions = [
    SettingDefinition(
      name: "listen", valueName: "HOST:PORT", help: "Where.", default: "[::]:80", kind: .address),
    SettingDefinition(name: "data-dir", valueName: "PATH", help: "Data.", kind: .text),
    SettingDefinition(name: "threads", valueName: "N", help: "Threads.", default: "2", kind: .number(1...64)),
    SettingDefinition(name: "idle", valueName: "TIME", help: "Idle.", default: "5m", kind: .duration),
    SettingDefinition(name: "limit", valueName: "SIZE", help: "Limit.", kind: .size),
    SettingDefinition(name: "verbose", valueName: "", help: "Talks.", kind: .flag),
    SettingDefinition(
      name: "form", valueName: "FORM", help: "Form.", default: "text", kind: .choice(["text", "json"])),
    SettingDefinition(name: "tag", valueName: "T,...", help: "Tags.", kind: .list),
    SettingDefinition(name: "admin-secret", valueName: "TEXT", help: "Secret.", kind: .secret),
  ]

  func read(
    _ arguments: [String] = [], _ environment: [String: String] = [:], _ file: String = ""
  ) throws -> Settings {
    try Settings(
      Self.definitions, arguments: arguments, environment: environment, file: ("b.conf", file),
      readFile: { $0 == "/s" ? "from file\n" : $0 == "/empty" ? "\n" : nil })
  }

  @Test func precedence() throws {
    let file = "# comment\n\nthreads = 5\nlimit=64K \n"
    let environment = ["BOREALIS_THREADS": "4", "BOREALIS_OTHER": "x"]
    #expect(try read().number("threads") == 2)
    #expect(try read([], [:], file).number("threads") == 5)
    #expect(try read([], environment, file).number("threads") == 4)
    #expect(try read(["--threads", "3"], environment, file).number("threads") == 3)
    let all = try read(["--verbose", "--data-dir=a=b"], ["BOREALIS_ADMIN_SECRET_FILE": "/s"], file)
    #expect(all.flag("verbose") && all.text("data-dir") == "a=b" && all.bytes("limit") == 65536)
    #expect(all.milliseconds("idle") == 300_000 && all.text("admin-secret") == "from file")
    #expect(all.address("listen") == HostPort("[::]:80"))
    #expect(all.text("form") == "text")
    #expect(try read(["--form", "json"]).text("form") == "json")
  }

  @Test func `Variables that no setting has are found, with those that were meant`() {
    let names = [
      "HOME", "BOREALIS_LISTEN", "BOREALIS_ADMIN_SECRET_FILE", "BOREALIS_LISTEN_FILE", "BOREALIS_LITSEN",
      "BOREALIS_TGA", "BOREALIS_DATA-DIR", "BOREALIS_WHATEVER", "BOREALIS_", "BOREALIS", "borealis_listen",
      "BOREALIS_SERVICE_HOST", "BOREALIS_SERVICE_PORT_HTTP", "BOREALIS_PORT", "BOREALIS_PORT_80_TCP_ADDR",
    ]
    let found = StrayVariable.all(in: names + ["BOREALIS_LITSEN"], Self.definitions)
    #expect(
      found.map { [$0.name, $0.near] } == [
        ["BOREALIS_", nil], ["BOREALIS_DATA-DIR", "BOREALIS_DATA_DIR"], ["BOREALIS_LISTEN_FILE", nil],
        ["BOREALIS_LITSEN", "BOREALIS_LISTEN"], ["BOREALIS_TGA", "BOREALIS_TAG"], ["BOREALIS_WHATEVER", nil],
      ])
  }

  @Test func lists() throws {
    #expect(try read().list("tag").isEmpty)
    #expect(try read(["--tag", "a,b", "--tag=c"]).list("tag") == ["a", "b", "c"])
    #expect(try read([], ["BOREALIS_TAG": "x,,y"]).list("tag") == ["x", "y"])
    #expect(try read(["--tag", "a"], ["BOREALIS_TAG": "x"], "tag = z").list("tag") == ["a"])
  }

  @Test(
    arguments: [
      (["--no"], [:], "", "unknown flag --no"),
      (["x"], [:], "", "unexpected argument \"x\""),
      (["--threads"], [:], "", "--threads needs N"),
      (["--threads", "0"], [:], "", "--threads: expected a number from 1 to 64, not \"0\""),
      (["--verbose", "--verbose"], [:], "", "--verbose is given twice"),
      ([], ["BOREALIS_LISTEN": "x"], "", "BOREALIS_LISTEN: expected HOST:PORT, not \"x\""),
      (
        ["--threads", "1"], [:], "\nthreads = x",
        "b.conf:2: threads: expected a number from 1 to 64, not \"x\""
      ),
      (["--tag", ","], [:], "", "--tag: expected a value, not \",\""),
      ([], [:], "tag = a\ntag = b", "b.conf:2: tag is given twice"),
      (["--form", "xml"], [:], "", "--form: expected text or json, not \"xml\""),
      ([], [:], "no = 1", "b.conf:1: unknown name \"no\""),
      ([], [:], "no", "b.conf:1: expected \"name = value\""),
      (
        [], [:], "limit = 9223372036854775807K",
        "b.conf:1: limit: expected a size such as 4096, 64K, 16M or 1G, not \"9223372036854775807K\""
      ),
      (["--admin-secret", ""], [:], "", "--admin-secret: expected a value"),
      (
        ["--admin-secret", "a", "--admin-secret-file", "/s"], [:], "",
        "--admin-secret and --admin-secret-file exclude each other: pass only one of them"
      ),
      (["--admin-secret-file", "/none"], [:], "", "--admin-secret-file: cannot read \"/none\""),
      (["--admin-secret-file", "/empty"], [:], "", "--admin-secret-file: \"/empty\" is empty"),
    ] as [([String], [String: String], String, String)])
  func errors(arguments: [String], environment: [String: String], file: String, line: String) {
    let error = #expect(throws: SettingsError.self) { try read(arguments, environment, file) }
    #expect(error?.description == line)
  }

  @Test(
    arguments: [
      ("127.0.0.1:8080", "127.0.0.1", 8080), ("[::1]:0", "::1", 0), ("localhost:65535", "localhost", 65535),
    ] as [(String, String, UInt16)])
  func addresses(text: String, host: String, port: UInt16) throws {
    let address = try #require(HostPort(text))
    #expect(address.host == host && address.port == port)
  }

  @Test(arguments: [
    "", ":", ":80", "a", "a:", "a:65536", "a:-1", "a:+1", "::1:80", "[::1]", "[]:1", "[a]:1", "a b:1",
    "[::1:80",
  ])
  func notAddresses(text: String) { #expect(HostPort(text) == nil) }

  @Test func helpNamesEverything() {
    let help = Settings.help(usage: "borealis serve", summary: "Serves.", Self.definitions)
    for definition in Self.definitions { #expect(help.contains("--\(definition.name)")) }
    #expect(help.contains("Default: 5m.") && help.contains("--admin-secret-file PATH"))
  }
}
