import API
import BorealisBase
import CLinux
import DeviceGateway
import HTTP

/// How many connections each loop may have, so that neither devices nor HTTP clients take the last file
/// descriptor, and how many one network, so that none takes all.
struct ConnectionLimits {
  let devicesPerLoop: Int
  let httpPerLoop: Int
  /// HTTP connections of one network.
  let httpPerNetwork: Int
  /// Device connections without a login of one network.
  let unauthenticatedPerNetwork: Int
  /// Bytes that all HTTP connections may hold together.
  let httpBytes: Int

  /// For the database, listeners, event loops and logs.
  private static let reserve = 128

  /// Raises the limit of open files as far as allowed and divides it.
  init(_ settings: ServeSettings) throws(Failure) {
    cl_save_address_space()
    var granted: UInt64 = 0
    guard cl_set_nofile_limit(10_000_000, &granted) >= 0 else {
      throw .failed("cannot ask for the limit of open files")
    }
    let reserve = Self.reserve + 8 * settings.loops
    let left = Int(clamping: granted) - settings.maxHTTPConnections - reserve
    let needed = settings.maxDevices ?? 1
    guard left >= needed else {
      throw .usage(
        """
        \(needed) devices and \(settings.maxHTTPConnections) HTTP connections need a limit of \
        \(needed + settings.maxHTTPConnections + reserve) open files, but it is \(granted) (ulimit -n)
        """)
    }
    let devices = settings.maxDevices ?? left
    // The kernel spreads connections by chance, not evenly: some loops get more than their share.
    devicesPerLoop = Self.share(devices, settings.loops)
    httpPerLoop = Self.share(settings.maxHTTPConnections, settings.loops)
    let http = settings.maxHTTPConnections
    httpPerNetwork = min(settings.httpConnectionsPerNetwork ?? http / 4, http - http / 4)
    unauthenticatedPerNetwork = min(settings.unauthenticatedPerNetwork, max(1, devices / 4))
    // Less where there is little memory; but the largest file fits into a network's quarter.
    httpBytes = max(48 << 20, min(128 << 20, Int(clamping: cl_memory_limit() / 8)))
  }

  private static func share(_ total: Int, _ loops: Int) -> Int {
    min(total, total / loops + total / 16 + 1)
  }
}

extension ServeSettings {
  var gatewayLimits: GatewayLimits {
    var limits = GatewayLimits()
    limits.pushCallsPerMinute = pushCallsPerMinute
    limits.deviceCallsPerMinute = deviceCallsPerMinute
    limits.trustedProxies = trustedProxies
    return limits
  }

  func deviceLimits(_ connections: ConnectionLimits) -> PassthroughLimits {
    var limits = PassthroughLimits()
    limits.heartbeat = heartbeat
    limits.ackDelay = acknowledgementDelay
    limits.connections = connections.devicesPerLoop
    return limits
  }

  /// What peers without a login may have.
  func peerGuard(_ connections: ConnectionLimits) -> PeerGuard {
    PeerGuard(
      unauthenticated: UInt32(clamping: connections.unauthenticatedPerNetwork),
      registrationsPerMinute: UInt32(registrationsPerNetwork))
  }

  func httpPeers(_ connections: ConnectionLimits) -> HTTPPeerLimit {
    HTTPPeerLimit(
      connections: connections.httpPerNetwork, exempt: trustedProxies + IPNetwork.loopback)
  }

  func httpLimits(_ connections: ConnectionLimits) -> HTTPServerLimits {
    var limits = HTTPServerLimits()
    limits.connections = connections.httpPerLoop
    limits.message = HTTPLimits(body: Gateway.largestBody(gatewayLimits))
    return limits
  }
}
