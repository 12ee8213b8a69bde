import BorealisProtocol
import Dispatch
import PushTesting
import Synchronization
import Testing

/// Devices whose pushes are counted as they come: the library drops what comes twice.
final class WireDevices: Sendable {
  private struct State: Sendable {
    var pushes: [String: [Int: Int]] = [:]
    var present = 0
    var ends: [String] = []
  }

  private let count: Int
  private let state = Mutex(State())
  private let isOver = Atomic<Bool>(false)
  private let done = DispatchGroup()

  /// Connects devices, which acknowledge what comes.
  init(_ world: UpgradeWorld, count: Int) throws {
    self.count = count
    let (address, key) = (world.server.device, world.app.key)
    for number in 0..<count {
      let identity = try TestDevice.register(address, app: key, install: "wire \(number)")
      // A thread for each, which does nothing but wait.
      DispatchQueue(label: "wire \(number)").async(group: done) { [self] in
        run(number, address, key, identity)
      }
    }
    let areThere = RunningProgram.eventually { state.withLock { $0.present } == count }
    #expect(areThere, "\(ends)")
  }

  private func run(_ number: Int, _ address: String, _ key: String, _ identity: TestDevice.Identity) {
    do {
      let device = try TestDevice.login(address, app: key, identity)
      state.withLock { $0.present += 1 }
      while !isOver.load(ordering: .relaxed) {
        switch try device.event() {
        case .push(let arrival):
          state.withLock { $0.pushes[arrival.id, default: [:]][number, default: 0] += 1 }
          try device.acknowledge(arrival)
        case .goAway:
          return state.withLock { $0.ends.append("device \(number) was told to go away") }
        case .recall, .other: break
        }
      }
    } catch {
      if !isOver.load(ordering: .relaxed) { state.withLock { $0.ends.append("device \(number): \(error)") } }
    }
  }

  /// Devices whose connection has ended.
  var ends: [String] { state.withLock { $0.ends } }

  /// Whether a push has come to all of them.
  func has(_ id: String) -> Bool { state.withLock { $0.pushes[id]?.count == count } }

  /// Sends a last push to all, which comes behind all others, and expects that each of them came once.
  func finish(in world: UpgradeWorld) throws {
    let last = try world.pushToAll("the last one")
    let hasCome = RunningProgram.eventually { has(last) }
    isOver.store(true, ordering: .relaxed)
    _ = try world.pushToAll("for those that wait")
    done.wait()
    #expect(hasCome && ends.isEmpty, "\(ends.prefix(3))")
    let twice = state.withLock { $0.pushes.filter { !$0.value.values.allSatisfy { $0 == 1 } } }
    #expect(twice.isEmpty, "\(twice.count) came twice: \(twice.keys.prefix(3))")
  }
}
