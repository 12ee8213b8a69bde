import Testing

@Suite struct LayoutTests {
  @Test func theTopLevelHoldsNothingElse() throws {
    let allowed: Set<String> = [
      "CHANGELOG.md", "CONTRIBUTING.md", "Docs", "LICENSE", "Makefile", "Migrations", "Package.swift",
      "README.md",
      "SECURITY.md", "Sources", "Tests", "docker",
    ]
    let found = Set(try Repository.names().filter { try !$0.hasPrefix(".") && !Self.isIgnored($0) })
    #expect(found.subtracting(allowed) == [])
    #expect(allowed.subtracting(["docker"]).subtracting(found) == [])
  }

  /// Whether git passes over a name at the top: what `make run` and the tools leave there is no part of the
  /// repository.
  private static func isIgnored(_ name: String) throws -> Bool {
    try Repository.text(".gitignore").split(separator: "\n").contains { line in
      let pattern = line.trimmingPrefix("/")
      let plain = pattern.hasSuffix("/") ? pattern.dropLast() : pattern
      return plain.hasPrefix("*") ? name.hasSuffix(plain.dropFirst()) : name == plain
    }
  }

  @Test func whatMakeRunLeavesIsIgnored() throws {
    for name in ["data", "Package.resolved", "old.sqlite", "__pycache__"] {
      #expect(try Self.isIgnored(name))
    }
    for name in ["Sources", "notes", "data2"] { #expect(try !Self.isIgnored(name)) }
  }

  @Test(arguments: ["Migrations", "Migrations/postgres"])
  func migrationsAreNumberedWithoutGaps(folder: String) throws {
    let names = try Repository.names(folder).filter { $0 != "postgres" }
    #expect(!names.isEmpty)
    for (index, name) in names.enumerated() {
      let match = try #require(name.wholeMatch(of: /(?<number>\d{4})_[a-z0-9_]+\.sql/), "\(name)")
      #expect(Int(match.number) == index + 1, "\(name)")
    }
  }

  @Test func linksLeadSomewhere() throws {
    let pages =
      try Repository.files(under: "Docs", ending: ".md") + ["README.md", "CONTRIBUTING.md", "SECURITY.md"]
    for page in pages {
      let folder = page.split(separator: "/").dropLast().joined(separator: "/")
      for match in try Repository.text(page).matches(of: /\]\((?<path>[^)#:\s]+)(?:#[^)]*)?\)/) {
        #expect(Repository.exists(folder + "/" + match.path), "\(page) links to \(match.path)")
      }
    }
  }

  @Test func pathsInPagesExist() throws {
    var count = 0
    for page in try Repository.files(under: "Docs", ending: ".md") {
      for match in try Repository.text(page).matches(of: /`(?<path>(?:Sources|Tests)\/[\w\/+.\-]+)/) {
        #expect(Repository.exists(String(match.path)), "\(page) names \(match.path)")
        count += 1
      }
    }
    #expect(count > 10, "the search finds them")
  }

  @Test func theIndexNamesEveryDecision() throws {
    let index = try Repository.text("Docs/decisions/README.md")
    let rows = index.matches(
      of: /\| \[(?<number>\d{4})\]\((?<page>[^)]+)\) \| (?<title>.+) \| (?<date>[\d-]+) \| (?<status>.+) \|/)
    let pages = try Repository.names("Docs/decisions").filter { $0 != "README.md" }
    #expect(rows.map { String($0.page) } == pages)
    for row in rows {
      let text = try Repository.text("Docs/decisions/\(row.page)")
      let (status, number) = (row.status.prefix(1).uppercased() + row.status.dropFirst(), row.number)
      #expect(text.hasPrefix("# \(number) \(row.title)\n\n**Status.** \(status)"), "\(row.page)")
      #expect(text.contains("**Date.** \(row.date).\n"), "\(row.page)")
    }
  }

  @Test func everyHarnessHasACorpus() throws {
    let list = try Repository.text("Tests/Fuzz/Harness.swift")
    let harnesses = list.matches(of: /"(?<name>\w+)": fuzz/).map { String($0.name) }
    #expect(!harnesses.isEmpty)
    #expect(try Repository.names("Tests/Fuzz/corpus").filter { !$0.hasPrefix(".") } == harnesses.sorted())
    for name in try Repository.names("Tests/Fuzz/dictionaries") { #expect(harnesses.contains(name)) }
  }
}
