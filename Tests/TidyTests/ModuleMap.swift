/// What Package.swift says about targets, read as text: a package cannot ask SwiftPM about itself while SwiftPM runs
/// its tests.
struct ModuleMap {
  /// A target with the names of those it may import.
  struct Target {
    let name: String
    let dependencies: [String]
  }

  /// The targets in the order of the file.
  let targets: [Target]

  /// Reads every `module(…)`, `tests(…)`, `.target(…)`, `.executableTarget(…)`, `.systemLibrary(…)` and `.plugin(…)`.
  init(_ manifest: String) {
    let entry =
      #/
      (?: module | tests | target | executableTarget | systemLibrary | plugin ) \( \s*
      (?: name: \s* )? "(?<name> [\w-]+ )"
      (?: , \s* (?: dependencies: \s* )? \[ (?<list> [^\]]* ) \] )?
      /#
    targets = manifest.matches(of: entry).map { match in
      let names = (match.list ?? "").matches(of: /"(?<name>[\w-]+)"/)
      return Target(name: String(match.name), dependencies: names.map { String($0.name) })
    }
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
