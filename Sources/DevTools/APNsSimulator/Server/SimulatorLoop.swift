import BorealisBase
import BorealisNet
import CLinux
import HTTP

/// All that runs on the simulator's loop: the APNs port, the control port, and the lines for standard output.
final class SimulatorLoop: LoopDriver {
  /// The ports' sockets.
  struct Sockets: Sendable {
    let apns: Int32
    let control: Int32?
  }

  private let apns: SimulatorServer
  private let print: (([UInt8]) -> Void)?
  private var lines: [UInt8] = []

  /// Adds everything to a loop, on its thread. `print` gets complete lines, those of one turn of the loop
  /// together; nil for none.
  init(
    loop: EventLoop, simulator: Simulator, tls: TLSContext, sockets: Sockets, print: (([UInt8]) -> Void)?
  ) throws(SystemError) {
    self.print = print
    apns = SimulatorServer(simulator: simulator)
    let server = apns.start(on: loop, tls: tls)
    try loop.listen(sockets.apns) { server.accept($0) }
    if let socket = sockets.control {
      let api = ControlAPI(simulator: simulator, connections: apns)
      let control = HTTPServer(loop: loop) { request, exchange in exchange.respond(api.handle(request)) }
      try loop.listen(socket) { control.accept($0) }
    }
    // After the others, so that it sees at the end of a turn what they did in it.
    _ = loop.add(self)
    guard print != nil else { return }
    simulator.whenLogged = { [unowned self] entry in
      lines += entry.json()
      lines.append(10)
    }
  }

  /// It has no sockets of its own.
  func ready(_ token: ConnectionToken, _ readiness: Readiness) {}

  func drainMail() {}

  func tick() { apns.tick() }

  func endTurn() -> Bool {
    guard !lines.isEmpty else { return false }
    print?(lines)
    lines.removeAll(keepingCapacity: true)
    return false
  }
}
