import BorealisBase
import Glibc
import PushTesting
import Testing

@Suite struct CommandTests {
  let folder = TemporaryFolder()
  var data: String { folder.path + "/data" }

  @Test(arguments: [["push", "--alert", "-h"], ["push", "--alert", "--help"]])
  func `The value of an option is no request for help`(arguments: [String]) throws {
    let ending = try RunningProgram.run(arguments)
    #expect(ending.status == 2 && ending.output.isEmpty, "\(ending.output)")
    #expect(try RunningProgram.run(arguments + ["-h"]).output.hasPrefix("usage: borealis push"))
  }

  @Test(arguments: ["version", "--version"])
  func `The version is one line`(command: String) throws {
    let ending = try RunningProgram.run([command])
    #expect(ending.status == 0)
    #expect(ending.output.split(separator: "\n").count == 1)
    #expect(ending.output.first?.isNumber == true)
    #expect(ending.errors.isEmpty)
  }

  @Test func `Help names every command, and each command has its own`() throws {
    let ending = try RunningProgram.run(["--help"])
    #expect(ending.status == 0)
    let commands = [
      "serve", "init", "push", "app imported", "app create", "app list", "app secret", "app disable",
      "app enable", "app channel set",
      "app channel list", "app channel remove", "app channel pause", "app channel resume", "app seal",
      "reseal",
      "app rotate", "app retire",
      "app delete", "app plan", "app allow", "account create", "account list", "account rotate",
      "account disable", "account enable", "plan set", "plan list", "privacy", "metrics list",
      "metrics rules", "metrics dashboard", "mail test", "import",
      "backup", "copy", "check", "device",
      "health", "version",
    ]
    for command in commands {
      #expect(ending.output.contains("  \(command) "))
      let own = try RunningProgram.run(command.split(separator: " ").map(String.init) + ["--help"])
      #expect(own.status == 0)
      #expect(own.output.hasPrefix("usage: borealis \(command)"))
    }
  }

  @Test func `The program with tools has help of its own`() throws {
    let list = try RunningProgram(["--help"], of: RunningProgram.tools).end()
    #expect(list.status == 0)
    for (tool, usage) in [
      ("apns-simulator", ""), ("channel-simulator", ""), ("bench", " BENCHMARK"),
    ] {
      #expect(list.output.contains("  \(tool) "))
      let own = try RunningProgram([tool, "--help"], of: RunningProgram.tools).end()
      #expect(own.status == 0)
      #expect(own.output.hasPrefix("usage: borealis-dev \(tool)\(usage) [options]"))
    }
    for (arguments, message) in [
      ([], "a command is missing; see borealis-dev --help"), (["fly"], "unknown command \"fly\""),
      (["bench"], "BENCHMARK is missing"), (["bench", "fly"], "fly"),
      (["apns-simulator", "--fly", "1"], "--fly"),
    ] {
      let wrong = try RunningProgram(arguments, of: RunningProgram.tools).end()
      #expect(wrong.status == 2 && wrong.errors.contains(message), "\(wrong.errors)")
    }
  }

  @Test(arguments: [
    ([], "a command is missing"),
    (["fly"], "unknown command \"fly\"; \"borealis --help\" lists them"),
    (
      ["app"],
      """
      expected "borealis app create" or "borealis app list" or "borealis app secret" or "borealis app rotate" \
      or "borealis app retire" or "borealis app disable" or "borealis app enable" or "borealis app delete" \
      or "borealis app plan" or "borealis app allow" or "borealis app seal" or "borealis app imported" \
      or "borealis app channel set" or "borealis app channel list" or "borealis app channel remove" \
      or "borealis app channel pause" or "borealis app channel resume" \
      or "borealis app getui set" or "borealis app getui remove" or "borealis app callback set" or "borealis app callback show" \
      or "borealis app callback rotate" or "borealis app callback remove"
      """
    ),
    (
      ["plan", "set", "a b", "--data", "/x"], "NAME has 1 to 40 lower-case letters, digits, - and _"
    ),
    (
      ["plan", "set", "a", "--data", "/x", "--broadcasts", "-1"],
      "--broadcasts: a number from 0 to 1000000000, or none"
    ),
    (
      ["app", "allow", "ABC", "10.0.0.1/8", "--data", "/x"],
      "\"10.0.0.1/8\" is not a network; expected an address range such as 192.0.2.0/24 or 2001:db8::/32"
    ),
    (["app", "enable", "ABC", "--data", "/x"], "KEY has 24 lower-case hexadecimal digits"),
    (["app", "create", "--data", "/x"], "NAME is missing; see \"borealis app create --help\""),
    (["app", "create", "A", "B", "--data", "/x"], "unexpected argument \"B\""),
    (["app", "create", "A"], "--data is missing"),
    (["app", "create", "A", "--data"], "--data needs DIR"),
    (["app", "create", "A", "--data", "/x", "--data=/y"], "--data is given twice"),
    (["app", "create", "A", "--date", "/x"], "unknown flag --date"),
    (["app", "create", "", "--data", "/x"], "NAME has 1 to 100 bytes and no control characters"),
    (["check", "--data", ""], "--data: expected a value, not \"\""),
  ])
  func `Wrong usage is one line and status 2`(arguments: [String], message: String) throws {
    let ending = try RunningProgram.run(arguments)
    #expect(ending.status == 2)
    #expect(ending.output.isEmpty)
    #expect(ending.errors.split(separator: "\n").last == "borealis: \(message)")
  }

  @Test(.onSQLite) func `An app is made with a key and a secret that are kept nowhere else`() throws {
    try TestServer.initialize(data: data)
    let ending = try RunningProgram.run(["app", "create", "My app", "--data", data])
    #expect(ending.status == 0, "\(ending.errors)")
    let app = try #require(ending.documents.first ?? nil)
    let secret = try #require(app["master_secret"]?.string)
    for text in [app["app_key"]?.string, secret] {
      #expect(text?.count == 24)
      #expect(text?.allSatisfy { "0123456789abcdef".contains($0) } == true)
    }
    let database = TemporaryFolder.read(data + "/borealis.sqlite")
    #expect(!database.isEmpty && !database.contains(secret))
  }

  /// A database without any table is filled only by the command that makes one; this test has the lock that a
  /// server would have.
  @Test(.onSQLite) func `Only while no server runs does a command fill an empty database`() throws {
    #expect(mkdir(data, 0o700) == 0)
    try TemporaryFolder.write(Self.withoutTables, to: data + "/borealis.sqlite")
    let lock = open(data + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    #expect(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
    let create = ["init", "--data", data]
    let refused = try RunningProgram.run(create)
    #expect(refused.status == 1)
    #expect(refused.errors == "borealis: another server uses \(data); stop it first\n")
    close(lock)
    let list = try RunningProgram.run(["app", "list", "--data", data])
    #expect(list.status == 1 && list.errors.contains("is empty"), "\(list.errors)")
    #expect(try RunningProgram.run(create).status == 0)
  }

  /// One page (sqlite.org/fileformat2.html): the file's header, and a b-tree page with no cells.
  private static var withoutTables: [UInt8] {
    var page = Array("SQLite format 3\0".utf8) + [16, 0, 1, 1, 0, 64, 32, 32]
    page += [UInt8](repeating: 0, count: 4096 - page.count)
    page.replaceSubrange(28..<32, with: [0, 0, 0, 1])
    page.replaceSubrange(100..<108, with: [13, 0, 0, 0, 0, 16, 0, 0])
    return page
  }

  @Test func `Apps are listed in the order of their making, without secrets`() throws {
    try TestServer.initialize(data: data)
    let names = ["first", "zweite", "第三"]
    var keys: [String?] = []
    for name in names {
      // The folder may also come from the environment.
      let ending = try RunningProgram.run(["app", "create", name], environment: ["BOREALIS_DATA": data])
      keys.append(ending.documents.first??["app_key"]?.string)
    }
    let ending = try RunningProgram.run(["app", "list", "--data", data + "/"])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.documents.map { $0?["name"]?.string } == names)
    #expect(ending.documents.map { $0?["app_key"]?.string } == keys)
    #expect(!ending.output.contains("secret"))
  }

  @Test(.onSQLite) func `Names do nothing to a terminal`() throws {
    let control = try RunningProgram.run(["app", "create", "a\u{9B}31m", "--data", data])
    #expect(control.status == 2 && !control.errors.contains("\u{9B}"), "\(control.errors)")
    let name = "a\u{202E}b"
    try TestServer.initialize(data: data)
    let made = try RunningProgram.run(["app", "create", name, "--data", data])
    #expect(made.output.contains(#""a\u202eb""#), "\(made.output)\(made.errors)")
    #expect(made.documents.first??["name"]?.string == name)
    let refused = try RunningProgram.run(["app", "list", "--data", data + "\u{9B}31m"])
    #expect(refused.errors.contains(#"\u009b31m"#) && !refused.errors.contains("\u{9B}"))
  }

  @Test func `An app is turned off and on`() throws {
    try TestServer.initialize(data: data)
    let made = try RunningProgram.run(["app", "create", "A", "--data", data])
    let key = try #require(made.documents.first??["app_key"]?.string)
    for (command, isDisabled) in [("disable", true), ("enable", false)] {
      #expect(try RunningProgram.run(["app", command, key, "--data", data]).status == 0)
      let listed = try RunningProgram.run(["app", "list", "--data", data])
      #expect(listed.documents.first??["disabled"]?.bool == isDisabled)
    }
    let unknown = try RunningProgram.run(["app", "disable", String(key.reversed()), "--data", data])
    #expect(unknown.status == 1)
    #expect(unknown.errors == "borealis: no app has the key \(String(key.reversed()))\n")
  }

  @Test(.onSQLite) func `The folder is its owner's alone`() throws {
    _ = try TestServer.makeApp(data: data)
    for (path, mode) in [(data, UInt32(0o700)), (data + "/borealis.sqlite", 0o600)] {
      var status = stat()
      #expect(stat(path, &status) == 0)
      #expect(status.st_mode & 0o777 & ~mode == 0, "\(path)")
    }
  }

  @Test(
    .onSQLite,
    arguments: [
      ["app", "list"], ["check"], ["backup", "/nonexistent/copy"], ["app", "create", "A"],
      ["account", "create", "A", "--plan", "free"], ["plan", "set", "a"],
    ])
  func `Only serve and init make a database`(arguments: [String]) throws {
    let ending = try RunningProgram.run(arguments + ["--data", data])
    #expect(ending.status == 1)
    #expect(ending.errors.hasPrefix("borealis: there is no database in \(data)"))
    #expect(access(data, F_OK) != 0, "no other command makes the folder")
    for _ in 0..<2 {
      let made = try RunningProgram.run(["init", "--data", data])
      #expect(made.status == 0 && made.documents == [["database": .string(data + "/borealis.sqlite")]])
    }
    #expect(try RunningProgram.run(["app", "list", "--data", data]).status == 0)
  }

  @Test func `A folder that cannot be made is named`() throws {
    let ending = try RunningProgram.run(["init", "--data", "/proc/none"])
    #expect(ending.status == 1)
    #expect(ending.errors.hasPrefix("borealis: cannot create /proc/none: "))
  }

  @Test(.onSQLite) func `A backup holds the apps and is never overwritten`() throws {
    _ = try TestServer.makeApp(data: data)
    let restored = folder.path + "/restored"
    mkdir(restored, 0o700)
    let copy = restored + "/borealis.sqlite"
    #expect(try RunningProgram.run(["backup", copy, "--data", data]).status == 0)
    let again = try RunningProgram.run(["backup", copy, "--data", data])
    #expect(again.status == 1)
    #expect(again.errors.contains("the target exists"))
    let original = try RunningProgram.run(["app", "list", "--data", data])
    let listed = try RunningProgram.run(["app", "list", "--data", restored])
    #expect(!listed.output.isEmpty && listed.output == original.output)
  }

  @Test(.onSQLite) func `Check tells a sound database from a damaged one`() throws {
    _ = try TestServer.makeApp(data: data)
    let sound = try RunningProgram.run(["check", "--data", data])
    #expect(sound.status == 0)
    #expect(sound.documents.first??["problems"]?.array?.isEmpty == true)
    let file = open(data + "/borealis.sqlite", O_WRONLY | O_CLOEXEC)
    #expect(pwrite(file, [UInt8](repeating: 0xff, count: 4096), 4096, 4096) == 4096)
    close(file)
    let damaged = try RunningProgram.run(["check", "--data", data])
    #expect(damaged.status == 1)
    #expect(damaged.documents.first??["problems"]?.array?.isEmpty == false)
  }
}
