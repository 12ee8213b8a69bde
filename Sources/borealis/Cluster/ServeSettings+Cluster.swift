import BorealisBase
import Cluster
import DeviceGateway
import HTTP

extension ServeSettings {
  /// What makes this process a node that others reach at an address.
  func configuration(
    of options: ClusterSettings, address: String, loops: Int
  ) -> ClusterConfiguration {
    ClusterConfiguration(
      ClusterConfiguration.Node(
        cluster: options.cluster, name: options.name, address: address, deviceAddress: options.deviceAddress,
        program: Program.version, spreadsApps: options.spreadsApps),
      bus: options.bus, tls: options.tls, loops: loops, log: log)
  }

  /// Passes requests on to other nodes.
  func forwarder(
    tls: NodeTLS?, _ limits: ConnectionLimits, memory: HTTPMemory, _ metrics: Metrics
  ) -> RequestForwarder {
    var options = RequestForwarder.Options()
    options.connections = httpLimits(limits).connections
    options.proxies = TrustedProxies(trustedProxies)
    options.exempt = trustedProxies + IPNetwork.loopback
    return RequestForwarder(
      tls: tls, options: options, refusal: { ServedAPIs.refusal($0, of: $1) },
      app: { [browsers = autopush?.app] in ServedAPIs.app(of: $0, browsers: browsers) }, memory: memory,
      metrics: metrics, log: log)
  }
}
