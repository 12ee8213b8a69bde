import BorealisBase

/// Which apps have to have the same home, because they share something that only one home keeps exact: a
/// group, whose pushes are one commit, or the speed of a plan. Apps that share something with the same app
/// belong together, too.
package struct AppBundles: Sendable, Equatable {
  /// All of a bundle by number, by each of its apps; an app alone has none.
  private var members: [AppID: [AppID]] = [:]

  /// Each app alone.
  package static let none = AppBundles([])

  /// The smallest bundles that keep each of these sets together.
  package init(_ sets: [Set<AppID>]) {
    var parents: [AppID: AppID] = [:]
    func root(_ app: AppID) -> AppID {
      var top = app
      while let parent = parents[top], parent != top { top = parent }
      var next = app
      while let parent = parents[next], parent != top {
        parents[next] = top
        next = parent
      }
      return top
    }
    for set in sets where set.count > 1 {
      let apps = set.sorted(by: AppID.precedes)
      for app in apps {
        let (one, other) = (root(apps[0]), root(app))
        let first = AppID.precedes(one, other) ? one : other
        (parents[one], parents[other]) = (first, first)
      }
    }
    let bundles = Dictionary(grouping: parents.keys, by: root).values.map { $0.sorted(by: AppID.precedes) }
    for bundle in bundles { for app in bundle { members[app] = bundle } }
  }

  /// An app and all that have to be where it is, by number.
  package subscript(app: AppID) -> [AppID] { members[app] ?? [app] }

  /// Some apps by bundle, the apps of each by number.
  func parts(of apps: some Sequence<AppID>) -> [[AppID]] {
    Dictionary(grouping: apps) { self[$0][0] }.values.map { $0.sorted(by: AppID.precedes) }
  }

  /// Those of several apps, by the number of the first.
  var all: [[AppID]] {
    members.filter { $0.key == $0.value[0] }.values.sorted { AppID.precedes($0[0], $1[0]) }
  }
}

extension AppID {
  static func precedes(_ one: AppID, _ other: AppID) -> Bool { one.rawValue < other.rawValue }
}
