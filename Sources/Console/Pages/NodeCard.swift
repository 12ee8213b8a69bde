import BorealisBase

/// The nodes of a cluster on the page of the installation.
struct NodeCard {
  let call: PageCall
  let nodes: [ConsoleNode]

  /// Nothing for a server that is alone.
  var html: HTML {
    guard !nodes.isEmpty else { return .none }
    return """
      <section class="card"><h2>\(call(Words.nodes))</h2><table><thead><tr><th>\(call(Words.node))</th>
      <th>\(call(Words.nodeRole))</th><th>\(call(Words.deviceConnections))</th><th>\(call(Words.nodeVersion))</th>
      <th>\(call(Words.nodeAddress))</th><th>\(call(Words.startedAt))</th></tr></thead><tbody>
      \(nodes.sorted { $0.name < $1.name }, { entry($0) })
      </tbody></table></section>

      """
  }

  private func state(_ word: Phrase) -> HTML { " \(call.state(.warn, word))" }

  private func down(since seen: Timestamp) -> HTML {
    """
    \(call.state(.failed, Words.deadNode)) <span class="quiet">\(call(Words.seenLast)) \(call.moment(seen))</span>
    """
  }

  private func entry(_ node: ConsoleNode) -> HTML {
    var states: [HTML] = []
    if node.isDraining { states.append(state(Words.isDraining)) }
    if node.isOutOfReach { states.append(state(Words.isOutOfReach)) }
    let role: Phrase =
      if let apps = node.apps {
        (node.isHome ? Words.homeOfAppsAndInstallation : Words.homeOfApps).with(Counted.grouped(apps))
      } else {
        node.isHome ? Words.homeNode : Words.gatewayNode
      }
    let connections = node.connections.map { Counted.grouped($0) } ?? "–"
    let started = node.startedAt.map { call.moment($0) } ?? "–"
    let what: HTML = node.lastSeenAt.map { down(since: $0) } ?? "\(call(role))\(states, { $0 })"
    return """
      <tr><td>\(node.name)</td>
      <td data-label="\(call(Words.nodeRole))">\(what)</td>
      <td class="number" data-label="\(call(Words.deviceConnections))">\(connections)</td>
      <td data-label="\(call(Words.nodeVersion))">\(node.version)</td>
      <td data-label="\(call(Words.nodeAddress))"><code>\(node.address)</code></td>
      <td data-label="\(call(Words.startedAt))">\(started)</td></tr>

      """
  }
}
