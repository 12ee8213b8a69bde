import BorealisBase
import BorealisNet
import Synchronization

/// Whom this node reaches for requests. One for a process; safe to use from any thread. A loop does the work,
/// see `NodeProbe`.
package final class NodeReach: Sendable {
  /// A node that this one does not reach.
  package struct Problem: Sendable, Equatable {
    package let node: NodeAddress
    /// Why.
    package let reason: String
  }

  struct State: Sendable {
    var nodes: [Int64: NodeAddress] = [:]
    var reached: Set<Int64>?
    var problems: [Int64: String] = [:]
    var told: [NodeAddress: String] = [:]
  }

  let tls: NodeTLS?
  private let log: Log
  private let resolver = NameResolver()
  private let state = Mutex(State())
  private let addresses = Mutex<[String: [String]]>([:])

  /// Without TLS only nodes on this machine are reached.
  package init(tls: NodeTLS?, log: Log) { (self.tls, self.log) = (tls, log) }

  /// The other nodes, by their numbers.
  package func follow(_ nodes: [Int64: NodeAddress]) { state.withLock { $0.nodes = nodes } }

  /// The nodes that are reached; nil until each was asked.
  package var reached: Set<Int64>? { state.withLock(\.reached) }

  /// The nodes that are not reached, by name.
  package var problems: [Problem] {
    state.withLock { state in
      state.problems.compactMap { number, reason in
        state.nodes[number].map { Problem(node: $0, reason: reason) }
      }.sorted { $0.node.name < $1.node.name }
    }
  }

  /// Asks the others from now on, on a loop's thread.
  package func add(to loop: EventLoop) -> NodeProbe { NodeProbe(loop: loop, reach: self) }

  var nodes: [Int64: NodeAddress] { state.withLock(\.nodes) }

  /// The addresses of a host, best first; none while they are looked up.
  func addresses(of host: String) -> [String] {
    if NameResolver.isNumeric(host) { return [host] }
    if let known = addresses.withLock({ $0[host] }) { return known }
    lookUp(host)
    return []
  }

  /// Looks a host up once more, since nothing answers at the addresses that are known.
  func lookUp(_ host: String) {
    guard !NameResolver.isNumeric(host) else { return }
    resolver.resolve(host) { [weak self] found in self?.addresses.withLock { $0[host] = found } }
  }

  func note(_ reached: Set<Int64>?, _ problems: [Int64: String]) {
    let lines = state.withLock { state -> [(problem: Problem?, reached: NodeAddress?)] in
      state.reached = reached
      state.problems = problems
      guard reached != nil else { return [] }
      var lines: [(Problem?, NodeAddress?)] = []
      var told: [NodeAddress: String] = [:]
      for (number, node) in state.nodes {
        guard let reason = problems[number] else {
          if state.told[node] != nil { lines.append((nil, node)) }
          continue
        }
        if state.told[node] == nil { lines.append((Problem(node: node, reason: reason), nil)) }
        told[node] = reason
      }
      state.told = told
      return lines
    }
    for (problem, node) in lines {
      if let problem {
        log.warning(
          "node unreachable for requests",
          [
            "node": .text(problem.node.name), "address": .text("\(problem.node.host):\(problem.node.port)"),
            "reason": .text(problem.reason),
          ])
      } else if let node {
        log.info("node reachable for requests again", ["node": .text(node.name)])
      }
    }
  }
}
