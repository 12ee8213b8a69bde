import BorealisBase
import CLinux

/// The listening sockets.
struct Ports: Sendable {
  let sockets: SimulatorLoop.Sockets
  /// `HOST:PORT` with the port that was bound.
  let apns: String
  /// Nil without a control API.
  let control: String?

  private static let backlog: Int32 = 1024

  init(_ settings: Settings) throws(ToolFailure) {
    guard let wanted = settings.address("listen") else { throw .usage("--listen is missing") }
    let wantedControl = settings.address("control")
    if let host = wantedControl?.host, !Self.isLoopback(host), !settings.flag("control-anywhere") {
      throw .usage(
        "--control: whoever reaches \(host) could change what the simulator does; --control-anywhere allows it"
      )
    }
    let first = try Self.open(wanted, setting: "listen")
    let second = try wantedControl.map { wanted throws(ToolFailure) in
      try Self.open(wanted, setting: "control")
    }
    sockets = SimulatorLoop.Sockets(apns: first.socket, control: second?.socket)
    apns = first.address
    control = second?.address
  }

  private static func isLoopback(_ host: String) -> Bool {
    host == "localhost" || host == "::1" || host.hasPrefix("127.")
  }

  private static func open(
    _ wanted: HostPort, setting: String
  ) throws(ToolFailure) -> (socket: Int32, address: String) {
    let host = wanted.host.contains(":") ? "[\(wanted.host)]" : wanted.host
    let socket = cl_listen(wanted.host, wanted.port, backlog, 0)
    guard socket >= 0 else {
      throw .failed("--\(setting): cannot listen on \(host):\(wanted.port): \(SystemCalls.reason(-socket))")
    }
    return (socket, "\(host):\(cl_local_port(socket))")
  }
}
