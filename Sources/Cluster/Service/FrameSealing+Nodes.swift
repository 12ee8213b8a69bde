import BorealisBase
import Storage

extension FrameSealing {
  /// Seals frames, or leaves that, as the nodes that there are demand.
  func follow(_ view: ClusterView?) {
    guard let view else { return }
    follow(allOpen: view.nodes.allSatisfy { $0.capabilities.contains(.opensSealed) })
  }
}

extension BusSettings {
  /// Whether others than nodes may get at the bus: it is on another machine, and has no TLS, or does not ask
  /// who somebody is.
  var isOpenToOthers: Bool {
    let isLocal = servers.allSatisfy { server in
      HostPort(server).map { NodeAddress(name: "", host: $0.host, port: $0.port).isLoopback } ?? false
    }
    return !isLocal && (tls == nil || credentials == .none && tls?.certificate == nil)
  }
}
