import BorealisBase

/// Where requests are served: all of them by one home; or those of each app by the app's home, those of a
/// group of apps by the home that all of these have, and what names neither by that of the installation.
package struct RequestHomes: Sendable, Equatable {
  /// Who serves a request.
  package enum Home: Sendable, Hashable {
    /// Nobody at the moment: it waits.
    case nobody
    /// This process, which is one of several homes.
    case here
    /// Another node.
    case node(NodeAddress)
  }

  /// Whether each app has a home of its own.
  package let isDivided: Bool
  private var installation: Home
  private var apps: [AppKey: Home] = [:]

  /// One home of all apps; nil while there is none. A process that is the home itself serves what waits in
  /// it, whatever is said here.
  package init(_ home: NodeAddress?) {
    isDivided = false
    installation = home.map { .node($0) } ?? .nobody
  }

  /// Homes of some apps each. What names no app, or an app that is not among these, is for the home of the
  /// installation. Requests of a group wait as long as its apps, which `groups` has by their keys, have
  /// different homes.
  package init(installation: Home, apps: [AppKey: Home], groups: [AppKey: [AppKey]] = [:]) {
    isDivided = true
    (self.installation, self.apps) = (installation, apps)
    for (group, members) in groups where apps[group] == nil {
      let homes = Set(members.map { self[$0] })
      self.apps[group] = homes.count > 1 ? .nobody : homes.first ?? installation
    }
  }

  /// Who serves requests of an app or a group, with nil those that name none.
  package subscript(app: AppKey?) -> Home { app.flatMap { apps[$0] } ?? installation }

  /// All other nodes among them.
  var nodes: Set<NodeAddress> {
    var nodes: Set<NodeAddress> = []
    for case .node(let address) in apps.values { nodes.insert(address) }
    if case .node(let address) = installation { nodes.insert(address) }
    return nodes
  }
}
