import Testing

@Suite struct SourceTests {
  static let sources = try? Repository.files(under: "Sources", ending: ".swift")

  @Test func theSearchFindsTheSources() throws {
    #expect(try #require(Self.sources).contains("Sources/Base/Text/Hex.swift"))
  }

  /// The formatter breaks code, but not comments.
  @Test func commentsFitTheColumns() throws {
    for path in try #require(Self.sources) + Repository.files(under: "Tests", ending: ".swift") {
      let long = try Repository.text(path).split(separator: "\n").filter {
        $0.drop(while: { $0 == " " }).hasPrefix("//") && $0.count > 110
      }
      #expect(long.isEmpty, "\(path): \(long)")
    }
  }

  /// Files with a longer function than others may have. A router's initializer makes all services of a home,
  /// in the order in which they need each other.
  private static let withLongFunctions: Set = ["Sources/Core/Router.swift"]

  /// The formatter puts the end of a body in a line of its own, below the first letter of its declaration.
  @Test func noFunctionIsLong() throws {
    let start = /^ *(?:@[\w(): ]+ )*(?:\w+(?:\(\w+\))? )*(?:func [^ ]|init[?(<]|subscript[(<])/
    var (count, long) = (0, Set<String>())
    for path in try #require(Self.sources) {
      let lines = try Repository.text(path).split(separator: "\n", omittingEmptySubsequences: false)
      for (index, line) in lines.enumerated() where line.starts(with: start) {
        var depth = 0
        let last = lines[index...].firstIndex { line in
          depth += line.count { "([".contains($0) } - line.count { ")]".contains($0) }
          return depth <= 0
        }
        guard let last, lines[last].hasSuffix("{"),
          let end = lines[last...].firstIndex(of: line.prefix { $0 == " " } + "}")
        else { continue }
        count += 1
        if end - index >= 60 { long.insert(path) }
      }
    }
    #expect(count > 5000, "the search finds functions")
    #expect(long == Self.withLongFunctions)
  }

  /// Whoever reads or searches for a type means one. What the device library has for Linux and for Apple's
  /// platforms has the same name and the same file name in both folders.
  @Test func namesOfTypesAreUnique() throws {
    var files: [String: Set<String>] = [:]
    let start =
      /^(?:(?:public|package|private|fileprivate|final|indirect|@\w+(?:\(.*?\))?) )*(?:class|struct|enum|actor|protocol|typealias) (?<name>\w+)/
      .anchorsMatchLineEndings()
    for path in try #require(Self.sources) {
      for match in code(try Repository.text(path)).matches(of: start) {
        files[String(match.name), default: []].insert(path.replacing("/Apple/", with: "/Linux/"))
      }
    }
    #expect(files.count > 1000, "the search finds types")
    for (name, paths) in files where paths.count > 1 { Issue.record("\(name): \(paths.sorted())") }
  }

  /// The compiler inlines and specializes nothing of the package in another module, whatever its attributes.
  @Test func whatIsInlinableIsPublic() throws {
    var count = 0
    for path in try #require(Self.sources) {
      let lines = code(try Repository.text(path)).split(separator: "\n")
      for (line, next) in zip(lines, lines.dropFirst()) where line.hasSuffix("@inlinable") {
        count += 1
        #expect(!next.contains(/^ *(?:@\w+ )*package\b/), "\(path): \(next)")
      }
    }
    #expect(count > 20, "the search finds them")
  }

  @Test func nothingIsLeftForLater() throws {
    for path in try #require(Self.sources) {
      // OPPO and vivo have a category of messages with this name.
      let text = try Repository.text(path).replacing("\"TODO\"", with: "")
      for word in ["TODO", "FIXME"] { #expect(!text.contains(word), "\(word) in \(path)") }
    }
  }

  @Test func javaIsAsTidy() throws {
    let paths =
      try Repository.files(under: "Sources/android", ending: ".java")
      + Repository.files(under: "Tests/AndroidTests", ending: ".java")
    #expect(paths.count > 50, "the search finds them")
    for path in paths {
      let text = try Repository.text(path)
      for word in ["TODO", "FIXME"] { #expect(!text.contains(word), "\(word) in \(path)") }
      let long = text.split(separator: "\n").filter { $0.count > 110 }
      #expect(long.isEmpty, "\(path)")
    }
  }

  @Test func nothingIsForced() throws {
    for path in try #require(Self.sources) {
      let code = code(try Repository.text(path))
      for word in ["try!", "as!", "unsafelyUnwrapped"] { #expect(!code.contains(word), "\(word) in \(path)") }
    }
  }

  /// The console and the gateway reach what is stored through services.
  @Test func frontsSeeNoTransaction() throws {
    for path in try #require(Self.sources)
    where ["Console/Pages/", "Console/People/", "Console/Web/", "API/"].contains(where: {
      path.hasPrefix("Sources/" + $0)
    }) && !path.hasPrefix("Sources/API/Getui/") {
      let code = code(try Repository.text(path))
      for word in ["Transaction", "store.read", "store.write"] {
        #expect(!code.contains(word), "\(word) in \(path)")
      }
    }
  }

  /// Whatever may block says so, and traps in debug builds on an event loop. Programs beside the server may
  /// wait.
  @Test func blockingCallsAreChecked() throws {
    let others = [
      "DevTools/", "EmbedFiles/", "BorealisDevice/",
    ]
    let exempt = [
      // The writer, readers and the checkpointer have threads of their own, which wait for the database.
      "Sources/Storage/",
      // Commands; `serve` has no such call, and `device` waits for whoever reads its output.
      "Command.swift", "Commands.swift", "Sources/Base/Settings/SystemCalls.swift",
      "Sources/borealis/Commands/DeviceInstruction.swift",
      // Before there are threads.
      "Sources/borealis/main.swift",
    ]
    let call =
      /\b(?:Glibc\.(?:write|read|poll|open)|usleep|nanosleep|poll|fsync|flock|getaddrinfo|cl_resolve|curl_easy_perform|waitpid|pthread_cond_\w*wait|readLine)\(|\bO_(?:RDONLY|WRONLY|RDWR)\b/
    var checked = 0
    for path in try #require(Self.sources)
    where !others.contains(where: { path.hasPrefix("Sources/" + $0) })
      && !exempt.contains(where: { path.hasPrefix($0) || path.hasSuffix($0) })
    {
      let code = code(try Repository.text(path)).replacing(/func \w+\(/, with: "")
      guard code.contains(call), !path.hasPrefix("Sources/HTTP/Messages/") else { continue }
      checked += 1
      let isChecked = code.contains("BlockingCall.assertAllowed()")
      #expect(isChecked, "\(path)")
    }
    #expect(checked > 5, "the search finds them")
  }

  /// SQL is written in the words that SQLite and PostgreSQL have in common: Docs/decisions/0049.
  @Test func sqlIsCommon() throws {
    let words = [
      "INSERT OR ", "ON CONFLICT DO ", " IS ?", " IS NOT ?", "LIMIT -1", "last_insert_rowid",
      "NOT IN (SELECT",
    ]
    for path in try #require(Self.sources) where path.hasPrefix("Sources/Storage/") {
      let text = try Repository.text(path)
      for word in words { #expect(!text.contains(word), "\(word) in \(path)") }
    }
  }

  @Test func everyActionInTheAuditLogHasWords() throws {
    let words = try Repository.text("Sources/Console/Web/Words/AuditWords.swift")
    var actions: Set<String> = []
    for path in try #require(Self.sources) where path.hasPrefix("Sources/Console/") {
      let action = /(?:entry\(|action:)\s*"(?<action>[a-z]+\.[a-z.]+)"/
      let text = try Repository.text(path)
      actions.formUnion(text.matches(of: action).map { String($0.action) })
      // Pages of a kind of named things have actions of its noun.
      for kind in text.matches(of: /\bnoun: "(?<noun>[a-z]+)"/) {
        actions.formUnion(["create", "change", "delete"].map { "\(kind.noun).\($0)" })
      }
    }
    #expect(actions.isSuperset(of: ["app.create", "segment.change"]))
    for action in actions.sorted() { #expect(words.contains("\"\(action)\": Phrase("), "\(action)") }
  }

  @Test(arguments: [
    ("a // try!\nb", "a \nb"), ("\"a\\\"b\" c", "\"\" c"), ("a /* x\ny */ b", "a  b"),
    ("\"\"\"\n \"x\"\n\"\"\" a", "\"\" a"), ("\"http://x\" + a", "\"\" + a"),
    ("try! f(\"\")", "try! f(\"\")"),
  ])
  func codeIsToldFromComments(source: String, expected: String) {
    #expect(code(source) == expected)
  }
}
