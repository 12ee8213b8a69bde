import Foundation

/// What Package.swift says about targets, read as text: a package cannot ask SwiftPM about itself while
/// SwiftPM runs its tests.
struct ModuleMap {
  /// A target with the names of those it may import.
  struct Target {
    let name: String
    let dependencies: [String]
    /// Where its sources are.
    let folder: String
  }

  /// The targets in the order of the file.
  let targets: [Target]

  /// Reads every `module(…)`, `library(…)`, `tests(…)`, `.target(…)`, `.executableTarget(…)` and
  /// `.plugin(…)`, up to what only a Mac builds: a part of some of the same targets.
  init(_ manifest: String) {
    let manifest = manifest.components(separatedBy: "\nif isForApple {")[0]
    let entry =
      #/
      (?: module | library | tests | target | executableTarget | plugin ) \( \s*
      (?: name: \s* )? "(?<name> [\w-]+ )"
      (?: , \s* in: \s* "(?<folder> \w+ )" )?
      (?: , \s* path: \s* "Sources/(?<path> [\w\/]+ )" )?
      (?: , \s* (?: dependencies: \s* )? \[ (?<list> [^\]]* ) \] )?
      /#
    targets = manifest.matches(of: entry).map { match in
      let names = (match.list ?? "").matches(of: /"(?<name>[\w-]+)"/)
      let isLibrary = match.output.0.hasPrefix("library")
      let folder = match.folder ?? match.path ?? (isLibrary ? "C/\(match.name)" : match.name)
      return Target(
        name: String(match.name), dependencies: names.map { String($0.name) }, folder: String(folder))
    }
  }

  /// The targets whose sources are in a folder of `Sources`, or in one inside it.
  func targets(in folder: String) -> [Target] {
    targets.filter { ($0.folder + "/").hasPrefix(folder + "/") }
  }

  subscript(name: String) -> Target? { targets.first { $0.name == name } }
}

/// The names of the modules that a Swift file imports.
func imports(_ source: String) -> [String] {
  let line =
    #/
    ^ \s* (?: @\w+ \s+ )* (?: (?: public | package | internal | fileprivate | private ) \s+ )?
    import \s+ (?: (?: struct | class | enum | protocol | typealias | func | let | var ) \s+ )?
    (?<name> \w+ )
    /#
    .anchorsMatchLineEndings()
  return source.matches(of: line).map { String($0.name) }
}

/// A Swift file without its comments and the insides of its strings.
func code(_ source: String) -> String {
  let noise = /"""(?s:.*?)"""|"(?:\\.|[^"\\\n])*"|\/\/[^\n]*|\/\*(?s:.*?)\*\//
  return source.replacing(noise) { $0.output.hasPrefix("\"") ? "\"\"" : "" }
}
