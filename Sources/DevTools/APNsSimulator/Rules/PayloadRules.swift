import BorealisBase

/// Which payloads go with which push types.
enum PayloadRules {
  private static let limits = JSONLimits(maxDepth: 64, maxBytes: 8192, maxMembers: 8192)

  /// Refuses an empty or too large body and what is not a JSON object in UTF-8.
  static func check(_ body: [UInt8], type: SimulatedPushType?) throws(Refusal) -> JSONObject {
    guard !body.isEmpty else { throw Refusal(.payloadEmpty) }
    guard body.count <= (type ?? .alert).payloadLimit else { throw Refusal(.payloadTooLarge) }
    guard case .object(let object)? = try? parseJSON(body, limits: limits) else {
      throw Refusal(.badRequestPayload)
    }
    return object
  }

  /// What Apple takes and the device will not show as meant.
  static func findings(_ payload: JSONObject, type: SimulatedPushType?) -> [Finding] {
    var findings: [Finding] = []
    let aps = payload["aps"]?.object
    if let type, !isMeant(aps, for: type) {
      switch type {
      case .alert: findings.append(.alertContent)
      case .background: findings.append(.backgroundContent)
      default: findings.append(.liveActivityContent)
      }
    }
    for flag in ["content-available", "mutable-content"] {
      if let value = aps?[flag], value.int64 != 1 { findings.append(.flagIsNoNumber) }
    }
    return findings
  }

  private static func isMeant(_ aps: JSONObject?, for type: SimulatedPushType) -> Bool {
    func has(_ key: String) -> Bool { aps?[key] != nil }
    let isVisible = has("alert") || has("badge") || has("sound")
    switch type {
    case .alert: return isVisible
    case .background: return has("content-available") && !isVisible
    case .liveactivity:
      guard aps?["timestamp"]?.int64 != nil, let event = aps?["event"]?.string else { return false }
      switch event {
      case "start": return has("attributes-type") && has("attributes") && has("content-state") && has("alert")
      case "update": return has("content-state")
      default: return event == "end"
      }
    default: return true
    }
  }
}
