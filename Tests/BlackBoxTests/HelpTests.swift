import BorealisBase
import Glibc
import PushTesting
import Testing

/// Completions of shells and manual pages, which the program makes of its own commands and settings.
@Suite struct HelpTests {
  let folder = TemporaryFolder()

  /// The names of all commands, as `borealis --help` lists them.
  private static let commands: [String] = {
    let help = (try? RunningProgram.run(["--help"]).output) ?? ""
    return help.split(separator: "\n").compactMap { $0.wholeMatch(of: #/  ([a-z]+(?: [a-z]+)*)  +[A-Z].*/#) }
      .map { String($0.output.1) }
  }()

  /// The options of a command, as its help lists them.
  private static func options(of command: String) throws -> [String] {
    let help = try RunningProgram.run(command.split(separator: " ").map(String.init) + ["--help"]).output
    let own = help.matches(of: #/\n  (--[a-z0-9-]+)/#).map { String($0.output.1) }
    return own + help.matches(of: #/\n      (--[a-z0-9-]+-file) PATH /#).map { String($0.output.1) }
  }

  /// What a shell prints for a script, line by line.
  private func run(_ shell: String, _ script: String) throws -> [String] {
    let file = folder.path + "/script"
    // The status of the last command is that of a comparison.
    try TemporaryFolder.write(script + "\ntrue\n", to: file)
    let quiet = shell == "zsh" ? ["-f"] : shell == "fish" ? ["--no-config"] : ["--norc"]
    let environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path, "LC_ALL": "C.UTF-8"]
    let ending = try RunningProgram(quiet + [file], of: "/usr/bin/\(shell)", environment: environment).end()
    #expect(ending.status == 0 && ending.errors.isEmpty, "\(ending.errors)")
    return ending.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  private func completion(_ shell: String) throws -> String {
    let ending = try RunningProgram.run(["completion", shell])
    #expect(ending.status == 0)
    return ending.output
  }

  /// What bash offers at the end of each line.
  private func offers(_ lines: [String], before: String = "") throws -> [String] {
    var script = try completion("bash") + before + "\ncd '\(folder.path)'\n"
    // As bash does: the function that `complete` has registered, with the line and the place of the cursor.
    script += "read -r _ _ function _ <<<\"$(complete -p borealis)\"\n"
    for line in lines {
      script += "COMP_LINE='\(line)'; COMP_POINT=${#COMP_LINE}; $function; echo \"${COMPREPLY[*]}\"\n"
    }
    return try run("bash", script).dropLast()
  }

  @Test func `Bash completes every command and every option`() throws {
    #expect(Self.commands.count > 50)
    let lines = Self.commands.map { "borealis \($0) --" }
    for (command, offered) in zip(Self.commands, try offers(lines)) {
      let expected = try Self.options(of: command) + ["--help"]
      #expect(offered.split(separator: " ").map(String.init).sorted() == expected.sorted(), "\(command)")
    }
    let first = try #require(try offers(["borealis "]).first).split(separator: " ")
    #expect(Set(first) == Set(Self.commands.compactMap { $0.split(separator: " ").first }))
    #expect(Set(first).count == first.count)
  }

  @Test func `Bash completes what is begun, and values`() throws {
    try TemporaryFolder.write("", to: folder.path + "/devices.csv")
    mkdir(folder.path + "/data", 0o700)
    let cases: [(line: String, expected: String)] = [
      ("borealis he", "health"), ("borealis app ch", "channel"),
      ("borealis app channel ", "set list remove pause resume"),
      ("borealis app channel set KEY apns --te", "--team-id"),
      ("borealis serve --log-level ", "debug info warning error"),
      ("borealis serve --log-level w", "warning"), ("borealis serve --log-level=w", "warning"),
      ("borealis serve --http 127.0.0.1:8080 --log-form", "--log-format"), ("borealis serve --data ", "data"),
      ("borealis serve --tls-key d", "data devices.csv"), ("borealis import d", "data devices.csv"),
      ("borealis import --dry-run dev", "devices.csv"), ("borealis app seal KEY ", "on off"),
      ("borealis app seal ", ""),
      ("borealis app seal --data data KEY o", "on off"), ("borealis app seal KEY on ", ""),
      ("borealis completion ", "bash zsh fish"), ("borealis nothing ", ""), ("borealis push --alert ", ""),
    ]
    for (offered, one) in zip(try offers(cases.map(\.line)), cases) {
      #expect(
        Set(offered.split(separator: " ")) == Set(one.expected.split(separator: " ")),
        "\(one.line): \(offered)")
    }
    // For those who have taken = out of the characters that divide words.
    let whole = try offers(
      ["borealis serve --log-level=w"], before: "COMP_WORDBREAKS=${COMP_WORDBREAKS//=}\n")
    #expect(whole == ["--log-level=warning"])
  }

  @Test(.enabled(if: access("/usr/bin/fish", X_OK) == 0, "fish is missing"))
  func `Fish completes every command and every option`() throws {
    var script = try completion("fish")
    var expected: [String] = []
    for command in Self.commands {
      script +=
        "complete -C 'borealis \(command) --' | string match -r '^--[^\\t]*' | sort | string join ' '\n"
      // An option with a value stands with = as well.
      expected.append(Set(try Self.options(of: command) + ["--help"]).sorted().joined(separator: " "))
    }
    for (offered, one) in zip(try run("fish", script), expected) {
      let names = Set(
        offered.split(separator: " ").map { $0.hasSuffix("=") ? String($0.dropLast()) : String($0) })
      #expect(names.sorted().joined(separator: " ") == one)
    }
    let lines = ["", "app channel ", "serve --log-level ", "app seal KEY o"].map {
      "complete -C 'borealis \($0)' | string split -f 1 \\t | sort | string join ' '\n"
    }
    let offered = try run("fish", try completion("fish") + lines.joined())
    let first = Set(Self.commands.compactMap { $0.split(separator: " ").first.map(String.init) })
    #expect(
      Array(offered.dropLast()) == [
        first.sorted().joined(separator: " "), "list pause remove resume set", "debug error info warning",
        "off on",
      ])
  }

  /// The functions of zsh's completion system stand in for what people type: they print what they are given.
  @Test(.enabled(if: access("/usr/bin/zsh", X_OK) == 0, "zsh is missing"))
  func `Zsh has specifications of every command and every option`() throws {
    let file = folder.path + "/_borealis"
    try TemporaryFolder.write(try completion("zsh"), to: file)
    var script = """
      fpath=('\(folder.path)' $fpath)
      autoload -Uz _borealis
      _describe() { print -r -- ${(P)4} }
      _arguments() { for one in "$@"; do print -rn -- "${${one#\\*}%%[=\\[]*} "; done; print "| $words[*]" }

      """
    for command in Self.commands {
      let count = command.split(separator: " ").count
      script += "words=(borealis \(command) --); CURRENT=\(count + 2); _borealis\n"
    }
    script += "words=(borealis app ''); CURRENT=3; _borealis\n"
    let output = try run("zsh", script)
    #expect(output.count == Self.commands.count + 2)
    for (command, line) in zip(Self.commands, output) {
      let options = line.split(separator: " ").filter { $0.hasPrefix("--") && $0.count > 2 }.map(String.init)
      #expect(try options.sorted() == (["--help"] + Self.options(of: command)).sorted(), "\(command)")
      // What is left for the command's own arguments.
      #expect(line.hasSuffix("| \(command.split(separator: " ").last ?? "") --"), "\(line)")
    }
    #expect(
      output.dropLast().last?.hasPrefix("create:Creates an app and prints its key and master secret. list:")
        == true)
  }

  @Test(arguments: ["borealis", "borealis.conf"])
  func `Manual pages have no warnings`(page: String) throws {
    let file = folder.path + "/" + page
    try TemporaryFolder.write(try RunningProgram.run(["man", page]).output, to: file)
    let ending = try RunningProgram(
      ["-man", "-ww", "-Tutf8", "-z", file], of: "/usr/bin/groff", environment: ["PATH": "/usr/bin:/bin"]
    ).end()
    #expect(ending.status == 0 && ending.errors.isEmpty, "\(ending.errors)")
  }

  /// The names that have an entry of their own in a part of a manual page.
  private static func entries(in text: String) -> [String] {
    text.matches(of: #/\n\.TP\n\\fB(\S+)\\fR/#).map { match in
      String(match.output.1).replacing("\\-", with: "-")
    }
  }

  @Test func `Manual pages have every command and every setting`() throws {
    let program = try RunningProgram.run(["man", "borealis"]).output
    let parts = program.split(separator: "\n.SS ").dropFirst()
    #expect(parts.count == Self.commands.count)
    for (command, part) in zip(Self.commands, parts) {
      #expect(part.hasPrefix("\\fBborealis \(command)\\fR"), "\(command)")
      let options = Self.entries(in: String(part)).map { "--" + $0.drop { $0 == "-" } }
      if command == "serve" {
        #expect(options.isEmpty)
      } else {
        #expect(try Set(options).isSuperset(of: Self.options(of: command)), "\(command)")
      }
    }
    let settings = Self.entries(in: try RunningProgram.run(["man", "borealis.conf"]).output).map { "--" + $0 }
    #expect(try Set(settings) == Set(Self.options(of: "serve").filter { $0 != "--config" }))
  }

  @Test(arguments: [["completion", "tcsh"], ["man", "bash"], ["completion"]])
  func `Wrong names are refused`(arguments: [String]) throws {
    let ending = try RunningProgram.run(arguments)
    #expect(ending.status == 2 && ending.output.isEmpty)
  }
}
