/// A variable of the environment that looks like a setting's and is none's.
public struct StrayVariable: Equatable, Sendable {
  /// Its name.
  public let name: String
  /// A setting's variable with nearly the same name, if there is one.
  public let near: String?

  /// Those among the names of variables, in alphabetical order. Variables that Kubernetes makes for a service
  /// named `borealis` are left out. `definitions` are the settings of all subcommands.
  public static func all(in names: [String], _ definitions: [SettingDefinition]) -> [StrayVariable] {
    let known = Set(definitions.flatMap(\.variables)).sorted()
    let strays = Set(names).subtracting(known).filter { $0.hasPrefix(SettingDefinition.prefix) }
    return strays.filter { !isOfKubernetes($0) }.sorted().map { name in
      // What differs in more than a letter of four is another word.
      let distances = known.map { (name: $0, distance: distance(name, $0)) }
      let best = distances.filter { $0.distance <= min(3, (name.utf8.count - 9) / 4 + 1) }
        .min { $0.distance < $1.distance }
      return StrayVariable(name: name, near: best?.name)
    }
  }

  /// https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
  private static func isOfKubernetes(_ name: String) -> Bool {
    let marks = ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT_"]
    return name.hasSuffix("_PORT") || marks.contains { name.contains($0) }
  }

  /// How many bytes are to be added, left out, replaced or exchanged with the next one.
  private static func distance(_ one: String, _ other: String) -> Int {
    let (left, right) = (Array(one.utf8), Array(other.utf8))
    guard abs(left.count - right.count) <= 3 else { return .max }
    var before: [Int] = []
    var last = Array(0...right.count)
    for row in left.indices {
      var next = [row + 1]
      for column in right.indices {
        let isEqual = left[row] == right[column]
        var best = min(last[column] + (isEqual ? 0 : 1), last[column + 1] + 1, next[column] + 1)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          best = min(best, before[column - 1] + 1)
        }
        next.append(best)
      }
      (before, last) = (last, next)
    }
    return last[right.count]
  }
}
