import BorealisBase
import CLinux
import Glibc

/// Devices of a crowd that is too large for one process: `bench-helper crowd KEY FIRST COUNT NODE PORT...`.
/// They have the registrations from FIRST on of a `Population`, and connect to one port; who loses its
/// connection goes to the other ones.
///
/// Prints lines: `ready SECONDS` when all devices are logged in, again when all are back after a loss, and
/// `all NUMBER SECONDS` when all have that many messages, by the monotonic clock.
enum CrowdHelper {
  /// Logins under way at a time.
  private static let window = 64

  static func run(_ words: [String]) -> Int32 {
    guard words.count >= 5, let key = AppKey(words[0]), let first = Int(words[1]), let count = Int(words[2]),
      let node = Int(words[3]), first >= 0, count > 0
    else { return 2 }
    let ports = words[4...].compactMap { UInt16($0) }.map { Endpoint(port: $0) }
    guard ports.indices.contains(node) else { return 2 }
    do throws(BenchError) {
      try Crowd(key, first: first, count: count, node: node, ports).run(window: window)
    } catch {
      Report.progress("crowd: \(error)")
      return 1
    }
  }

  private final class Crowd {
    private let client: LoadClient
    private let driver: BorealisDriver
    private let ports: [Endpoint]
    private let count: Int
    /// The node that all devices go to first.
    private let home: Int
    /// Where the next device goes.
    private var next: Int
    private var waiting = FIFO<Int>()
    private var isReady: [Bool]
    private var readyCount = 0
    private var underWay = 0
    private var hasLost = false

    init(
      _ key: AppKey, first: Int, count: Int, node: Int, _ ports: [Endpoint]
    ) throws(BenchError) {
      client = try LoadClient()
      driver = BorealisDriver(receivers: count, appKey: key, sender: LoadSender(appKey: key, secret: ""))
      self.ports = ports
      self.count = count
      (home, next) = (node, node)
      isReady = [Bool](repeating: false, count: count)
      let population = Population(count: 0)
      for member in 0..<count {
        driver.adopt(member, population.id(first + member), population.secret)
        waiting.append(member)
      }
      driver.onReady = { [unowned self] in ready($0) }
      driver.onClosed = { [unowned self] in closed($0) }
    }

    /// One of four addresses of this process, 127.1.x.y.
    private func source(of member: Int) -> UInt32 {
      0x7f01_0000 + UInt32(truncatingIfNeeded: home * 4 + member % 4 + 1)
    }

    private func ready(_ member: Int) {
      underWay -= 1
      isReady[member] = true
      readyCount += 1
    }

    private func closed(_ member: Int) {
      if isReady[member] {
        readyCount -= 1
        isReady[member] = false
        hasLost = true
      } else {
        underWay -= 1
      }
      waiting.append(member)
    }

    func run(window: Int) throws(BenchError) -> Never {
      var (hasReported, told, noted) = (false, 0, cl_monotonic_ns())
      while true {
        if readyCount < count, cl_monotonic_ns() - noted > 5_000_000_000 {
          noted = cl_monotonic_ns()
          Report.progress("crowd: \(count - readyCount) devices are away; \(driver.lastWord ?? "no word")")
        }
        while underWay < window, let member = waiting.popFirst() {
          if hasLost { next = (next + 1) % ports.count }
          underWay += 1
          try client.connect(to: ports[next], driver: driver, member: member, from: source(of: member))
        }
        client.poll(until: cl_monotonic_ns() + 100_000_000)
        if readyCount < count {
          hasReported = false
        } else if !hasReported {
          hasReported = true
          report("ready")
        }
        if driver.board.completed > told {
          told = driver.board.completed
          report("all \(told)")
        }
      }
    }

    private func report(_ what: String) {
      let line = Array("\(what) \(Double(cl_monotonic_ns()) / 1e9)\n".utf8)
      _ = line.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    }
  }
}
