import BorealisBase
import Glibc
import PushTesting
import Synchronization

/// Where the nodes are that run, by name. Threads read it.
final class NodeAddresses: Sendable {
  struct Place: Sendable {
    let http: String
    let device: String
  }

  private let places = Mutex<[String: Place]>([:])

  subscript(name: String) -> Place? {
    get { places.withLock { $0[name] } }
    set { places.withLock { $0[name] = newValue } }
  }
}

/// A device that keeps a connection to some node, as a library does: it shows each message once, says so, and
/// comes back elsewhere when its connection ends. A thread of its own.
final class FleetDevice: Sendable {
  struct State: Sendable {
    /// What it has shown, by the text, and when.
    var shown: [String: [UInt64]] = [:]
    /// Messages that were shown or recalled.
    var handled: Set<String> = []
    var recalled: Set<String> = []
    /// What must not be.
    var faults: [String] = []
    /// The node that it is connected to.
    var node: String?
    /// Nodes at which its connection has ended.
    var lost: [String] = []
    var isOver = false
  }

  let index: Int
  /// Which of the apps it belongs to.
  let app: Int
  let identity: TestDevice.Identity
  private let key: String
  private let nodes: [String]
  private let addresses: NodeAddresses
  private let state = Mutex(State())

  init(
    _ index: Int, app: Int, key: String, _ identity: TestDevice.Identity, nodes: [String],
    _ addresses: NodeAddresses
  ) throws {
    (self.index, self.app, self.key, self.identity) = (index, app, key, identity)
    (self.nodes, self.addresses) = (nodes, addresses)
    try SystemThread.start("device") { [self] in run() }
  }

  /// What it has seen so far.
  var now: State { state.withLock { $0 } }

  /// It comes back no more.
  func end() { state.withLock { $0.isOver = true } }

  private func run() {
    var place = index
    while !state.withLock({ $0.isOver }) {
      let name = nodes[place % nodes.count]
      place += 1
      guard let address = addresses[name]?.device,
        let device = try? TestDevice.login(address, app: key, identity)
      else {
        usleep(50_000)
        continue
      }
      state.withLock { $0.node = name }
      var seen: Set<String> = []
      while let event = try? device.event(), handle(event, on: device, &seen) {}
      state.withLock { state in
        state.node = nil
        state.lost.append(name)
      }
    }
  }

  /// False when the connection has ended.
  private func handle(_ event: TestDevice.Event, on device: TestDevice, _ seen: inout Set<String>) -> Bool {
    switch event {
    case .push(let arrival):
      state.withLock { state in
        if !seen.insert(arrival.id).inserted {
          state.faults.append("\(arrival.id) came twice on a connection")
        }
        guard state.handled.insert(arrival.id).inserted else { return }
        let text = arrival.content["message"]?["msg_content"]?.string ?? "?"
        state.shown[text, default: []].append(SystemTime().monotonic())
      }
      return (try? device.acknowledge(arrival)) != nil
    case .recall(let id):
      state.withLock { state in
        state.handled.insert(id)
        state.recalled.insert(id)
      }
      return true
    case .goAway: return false
    case .other: return true
    }
  }
}
