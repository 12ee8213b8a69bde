import Testing

@Suite struct LayoutTests {
  @Test func theTopLevelHoldsNothingElse() throws {
    let allowed: Set<String> = [
      "Docs", "LICENSE", "Makefile", "Migrations", "Package.swift", "README.md", "Sources", "Tests", "docker",
    ]
    let found = Set(try Repository.names().filter { !$0.hasPrefix(".") })
    #expect(found.subtracting(allowed) == [])
    #expect(allowed.subtracting(["docker"]).subtracting(found) == [])
  }

  @Test func migrationsAreNumberedWithoutGaps() throws {
    let names = try Repository.names("Migrations")
    #expect(!names.isEmpty)
    for (index, name) in names.enumerated() {
      let match = try #require(name.wholeMatch(of: /(?<number>\d{4})_[a-z0-9_]+\.sql/), "\(name)")
      #expect(Int(match.number) == index + 1, "\(name)")
    }
  }

  @Test func linksLeadSomewhere() throws {
    let pages = try Repository.files(under: "Docs", ending: ".md") + ["README.md"]
    for page in pages {
      let folder = page.split(separator: "/").dropLast().joined(separator: "/")
      for match in try Repository.text(page).matches(of: /\]\((?<path>[^)#:\s]+)(?:#[^)]*)?\)/) {
        #expect(Repository.exists(folder + "/" + match.path), "\(page) links to \(match.path)")
      }
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
