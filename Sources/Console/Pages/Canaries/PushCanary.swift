import BorealisBase
import Model

/// Whether a push of the form goes to a share of its audience first.
struct PushCanary: Sendable, Equatable {
  /// Percent of the audience; empty for everyone at once.
  var share = ""
  /// Minutes before it is decided whether the rest gets it.
  var minutes = String(Canary().wait / 60)
  /// Percent of failures that are allowed.
  var failures = String(Canary().maxFailures)

  init() {}

  init(_ call: PageCall) {
    share = call.field("canary_share")
    minutes = call.field("canary_minutes")
    failures = call.field("canary_failures")
  }

  /// That of a push object, as far as the form has fields for it.
  init(of object: JSONValue?) {
    guard let canary = object?["canary"]?.object else { return }
    func number(_ key: String) -> Int64? { canary[key]?.number?.int64 }
    let standard = Canary()
    share = String(number("share") ?? Int64(standard.share))
    minutes = String((number("wait") ?? standard.wait) / 60)
    failures = String(number("max_failures") ?? Int64(standard.maxFailures))
  }

  /// What is typed here, by the names of the fields.
  var fields: [(name: String, value: String)] {
    [("canary_share", share), ("canary_minutes", minutes), ("canary_failures", failures)]
  }

  /// Adds it to the options of a push object.
  func add(to options: inout JSONObject) {
    guard !share.isEmpty else { return }
    var canary = JSONObject()
    func set(_ key: String, _ text: String, times factor: Int64 = 1) {
      guard !text.isEmpty else { return }
      let number = Int64(text).flatMap { (0..<1_000_000).contains($0) ? JSONNumber($0 * factor) : nil }
      // What is not a number is refused like any other value that is wrong.
      canary.set(key, number.map { .number($0) } ?? .string(text))
    }
    set("share", share)
    set("wait", minutes, times: 60)
    set("max_failures", failures)
    options.set("canary", .object(canary))
  }

  /// The fields of the form.
  func html(_ call: PageCall) -> HTML {
    """
    <fieldset><legend>\(call(Words.canary))</legend>
    \(Forms.field(call(Words.canaryShare), "canary_share", type: "number", value: share, isRequired: false,
      most: Int(Canary.shares.upperBound), hint: call(Words.canaryShareHint)))
    \(Forms.field(call(Words.canaryMinutes), "canary_minutes", type: "number", value: minutes,
      isRequired: false, most: Int(Canary.waits.upperBound / 60)))
    \(Forms.field(call(Words.canaryFailures), "canary_failures", type: "number", value: failures,
      isRequired: false, most: Int(Canary.failureLimits.upperBound), hint: call(Words.canaryFailuresHint)))
    </fieldset>
    """
  }
}
