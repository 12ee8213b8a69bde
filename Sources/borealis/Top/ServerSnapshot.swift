import BorealisBase

/// What a server counts at a moment, as `borealis status` prints it.
struct ServerSnapshot: Sendable, Equatable {
  /// Counts of an app, or of a channel to a service for all apps together.
  struct Load: Sendable, Equatable {
    let name: String
    /// Nil for a channel.
    var appKey: String?
    /// By the names that `borealis status --help` explains.
    var counts: [String: Int]

    subscript(count: String) -> Int { counts[count] ?? 0 }
  }

  let version: String
  /// The server's clocks: Unix time in milliseconds, and one that nobody sets, in nanoseconds.
  let time: Int64
  let clock: UInt64
  /// Why the server is not ready; nil if it is.
  let obstacle: String?
  /// By name and labels, as Prometheus writes them.
  let metrics: [String: Double]
  let channels: [Load]
  let apps: [Load]

  /// The values in Prometheus' text format, but for those of each app, which have no bound.
  static func values(of text: String) -> [String: Double] {
    var values: [String: Double] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix("#") && !line.contains("app=\"") {
      guard let end = line.lastIndex(of: " "), let value = Double(line[line.index(after: end)...]) else {
        continue
      }
      values[String(line[..<end])] = value.isFinite ? value : nil
    }
    return values
  }
}

// MARK: - JSON
extension ServerSnapshot {
  /// Nil for what is not a snapshot, or has more than 1 MiB.
  init?(_ bytes: [UInt8]) {
    guard let document = try? parseJSON(bytes), let version = document["version"]?.string,
      let time = document["time_ms"]?.int64, let clock = document["monotonic_ns"]?.number?.uint64,
      let metrics = document["metrics"]?.object, let channels = document["channels"]?.array,
      let apps = document["apps"]?.array
    else { return nil }
    (self.version, self.time, self.clock) = (version, time, clock)
    obstacle = document["obstacle"]?.string
    self.metrics = Dictionary(
      metrics.members.compactMap { member in member.value.double.map { (member.key, $0) } }
    ) { $1 }
    self.channels = channels.compactMap { Load($0) }
    self.apps = apps.compactMap { Load($0) }
  }

  var json: JSONValue {
    var values = JSONObject()
    for (name, value) in metrics.sorted(by: { $0.key < $1.key }) {
      values.set(name, JSONNumber(value).map { .number($0) } ?? .null)
    }
    return [
      "version": .string(version), "time_ms": .number(JSONNumber(time)),
      "monotonic_ns": .number(JSONNumber(clock)), "obstacle": obstacle.map { .string($0) } ?? .null,
      "metrics": .object(values), "channels": .array(channels.map(\.json)), "apps": .array(apps.map(\.json)),
    ]
  }
}

extension ServerSnapshot.Load {
  fileprivate init?(_ value: JSONValue) {
    guard let members = value.object?.members, let name = value["name"]?.string else { return nil }
    let counts = members.compactMap { member in
      member.value.int64.map { (member.key, max(0, Int(clamping: $0))) }
    }
    self.init(name: name, appKey: value["app_key"]?.string, counts: Dictionary(counts) { $1 })
  }

  fileprivate var json: JSONValue {
    var object = JSONObject()
    object.set("name", .string(name))
    if let appKey { object.set("app_key", .string(appKey)) }
    for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
      object.set(name, .number(JSONNumber(count)))
    }
    return .object(object)
  }
}
