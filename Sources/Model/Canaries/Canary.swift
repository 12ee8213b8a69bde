import BorealisBase

/// That a push goes to a share of its audience first, and to the rest only if it fails for few of these
/// devices: `options.canary`.
package struct Canary: Equatable, Sendable {
  /// Percent of the audience that may get it first.
  package static let shares: ClosedRange<Int64> = 1...50
  /// Seconds before it is decided whether the rest gets it: a minute to a day.
  package static let waits: ClosedRange<Int64> = 60...86_400
  /// Percent of failures that one may allow.
  package static let failureLimits: ClosedRange<Int64> = 0...50
  /// Devices that get it first, at least: of fewer, a single failure would decide.
  package static let fewestDevices = 10
  /// The member of the push object's options.
  static let member = "canary"

  /// Percent of the audience that gets it first.
  package let share: Int
  /// Seconds before it is decided whether the rest gets it.
  package let wait: Int64
  /// The rest gets it if no more than so many percent of the devices with a known outcome failed.
  package let maxFailures: Int

  package init(share: Int = 5, wait: Int64 = 600, maxFailures: Int = 5) {
    (self.share, self.wait, self.maxFailures) = (share, wait, maxFailures)
  }

  /// Reads the member `canary` of options; nil if there is none. An object without members has the defaults,
  /// and a 0 is taken for what it says: a push must not go to everyone since its canary asked for little.
  static func parse(_ options: Fields) throws(APIError) -> Canary? {
    guard let fields = try options.fields(member) else { return nil }
    try fields.allow(["share", "wait", "max_failures"])
    func number(_ key: String, in range: ClosedRange<Int64>, else usual: Int64) throws(APIError) -> Int64 {
      guard let value = fields[key], value != .null else { return usual }
      guard let number = value.int64, range.contains(number) else {
        throw fields.invalid(key, "must be between \(range.lowerBound) and \(range.upperBound)")
      }
      return number
    }
    let usual = Canary()
    return Canary(
      share: Int(try number("share", in: shares, else: Int64(usual.share))),
      wait: try number("wait", in: waits, else: usual.wait),
      maxFailures: Int(try number("max_failures", in: failureLimits, else: Int64(usual.maxFailures))))
  }

  /// How many of an audience get it first: the share, rounded.
  package func devices(of count: Int) -> Int { min(count, (count * share + 50) / 100) }

  /// Why an audience of so many is too small; nil if it is not.
  package func fault(devices count: Int) -> APIError? {
    let first = devices(of: count)
    guard first < Self.fewestDevices else { return nil }
    let least = (Self.fewestDevices * 100 - 50 + share - 1) / share
    return .invalidValue(
      "options.canary: \(share) percent of \(count) devices are \(first), fewer than \(Self.fewestDevices). "
        + "Raise share, or send to at least \(least) devices")
  }
}

extension PushRequest {
  /// What a canary makes no sense with; nil if it goes with all that the push asks for.
  var complaintOfCanary: String? {
    if options.overrideMessageID != nil { return "options.override_msg_id" }
    if options.bigPushDuration > 0 { return "options.big_push_duration" }
    if options.encryption?.isForOneDevice == true { return "options.encryption for one device" }
    if audience.isForTestDevices { return "options.test_model" }
    if audience.liveActivityID != nil { return "a Live Activity" }
    return nil
  }

  /// The push object that the rest of an audience gets: without the names of whom it is for, since these are
  /// known by then.
  static func later(_ push: JSONObject) -> [UInt8] {
    var object = push
    object.set("audience", "all")
    _ = object.remove("cid")
    if var options = object["options"]?.object {
      _ = options.remove(Canary.member)
      object.set("options", .object(options))
    }
    return JSONWriter.serialize(.object(object))
  }
}
