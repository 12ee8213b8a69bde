import BorealisBase

extension SimulatorLog.Totals {
  /// The totals as the control API shows them.
  var json: JSONValue {
    var object = JSONObject()
    func set(_ name: String, _ value: Int) { object.set(name, .number(JSONNumber(value))) }
    func set(_ name: String, _ counts: [String: Int]) {
      var members = JSONObject()
      for (key, count) in counts.sorted(by: { $0.key < $1.key }) {
        members.set(key, .number(JSONNumber(count)))
      }
      object.set(name, .object(members))
    }
    set("requests", requests)
    set("accepted", accepted)
    set("refused", refused)
    set("scripted", scripted)
    set("findings", Dictionary(uniqueKeysWithValues: findings.map { ($0.key.rawValue, $0.value) }))
    set("duplicate_ids", duplicateIDs)
    set("duplicate_pushes", duplicatePushes)
    object.set("watches_duplicates", .bool(watchesDuplicates))
    set("connections", connections)
    set("open_connections", openConnections)
    set("refused_connections", refusedConnections)
    set("refused_streams", refusedStreams)
    set("ignored_streams", ignoredStreams)
    set("provider_tokens", providerTokens)
    set("pings", pings)
    set("priority_frames", priorityFrames)
    set("protocol_errors", protocolErrors)
    return .object(object)
  }
}
