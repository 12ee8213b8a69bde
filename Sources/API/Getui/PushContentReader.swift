import BorealisBase
import Model

/// Reads `push_message` and `push_channel` of a push body and assembles the push object.
struct PushContentReader {
  private let settings: PushSettings
  private let message: GetuiFields
  private let channel: GetuiFields?
  private let zone: any Zone

  /// `zone` is the server's time zone.
  init(_ body: GetuiFields, _ settings: PushSettings, zone: any Zone) throws(GetuiError) {
    self.settings = settings
    self.zone = zone
    guard let message = try body.fields("push_message") else { throw .missing("push_message") }
    self.message = message
    channel = try body.fields("push_channel")
  }

  /// Returns the action that the body asks for.
  func content() throws(GetuiError) -> PushBody.Content {
    try message.allow(["network_type", "duration", "notification", "transmission", "revoke"])
    if try message.integer("network_type", in: 0...Int64(Int32.max)) ?? 0 != 0 {
      throw .unsupported("push_message.network_type")
    }
    let text = try message.text("transmission", most: 3072)
    let transmission = text?.isEmpty == true ? nil : text
    let notification = try message.wishes("notification")
    let revoke = try message.wishes("revoke")
    guard [transmission != nil, notification != nil, revoke != nil].count(where: { $0 }) == 1 else {
      if notification == nil, revoke == nil, text != nil { throw .missing("push_message.transmission") }
      throw .parameter("please choose one of notification and transmission and revoke")
    }
    try channel?.allow(["ios", "android", "harmony", "mp"])
    let vendors = try GetuiVendorContent(channel)
    channel?.ignore("mp")
    let options = try VendorOptions(channel)
    // Checked also with a transmission, which shows nothing: the example of Getui's PHP client sends both.
    let window = try DisplayWindow(message)
    if notification == nil { message.ignore("duration") }
    if let revoke {
      guard channel?.wish("ios") == nil else {
        throw .parameter("push_message.revoke and push_channel.ios cannot setting at same time")
      }
      return .revoke(try Self.task(revoke))
    }
    var shown = Shown(vendors, options)
    if let notification { shown.add(try OwnNotification(notification, window).objects(zone)) }
    return .push(try push(transmission, shown))
  }

  /// Returns the task to recall.
  private static func task(_ revoke: GetuiFields) throws(GetuiError) -> GetuiTaskID {
    try revoke.allow(["old_task_id", "force"])
    let task = try revoke.task("old_task_id", GetuiTaskID.Kind.allCases)
    if try revoke.flag("force") == true { throw .unsupported(revoke.name("force")) }
    return task
  }

  /// What devices show, but for iOS.
  private struct Shown {
    /// The objects of `notification`, which the direct connection brings, and vendors' channels without
    /// objects of their own.
    private(set) var notification = JSONObject()
    /// The objects of `notification_3rd`, which only vendors' channels bring.
    private(set) var forVendors = JSONObject()
    /// The objects of `options.third_party_channel`.
    let wishes: JSONObject
    private let harmony: JSONObject

    init(_ vendors: GetuiVendorContent, _ options: VendorOptions) {
      (wishes, harmony) = (options.wishes, options.harmony)
      if let android = vendors.android { forVendors.set("android", .object(android)) }
      if let hmos = vendors.harmony { forVendors.set("hmos", .object(withOptions(hmos))) }
    }

    /// Adds `push_message.notification`.
    mutating func add(_ own: (android: JSONObject, harmony: JSONObject)) {
      notification.set("android", .object(own.android))
      notification.set(
        "hmos", .object(forVendors["hmos"] == nil ? withOptions(own.harmony) : own.harmony))
    }

    private func withOptions(_ object: JSONObject) -> JSONObject {
      var object = object
      for member in harmony.members { object.set(member.key, member.value) }
      return object
    }

    /// Whether a vendor's channel to Android has a notification.
    var isOnAndroid: Bool { notification["android"] != nil || forVendors["android"] != nil }
  }

  /// Assembles the push object without audience.
  private func push(_ transmission: String?, _ shown: Shown) throws(GetuiError) -> JSONObject {
    var push = JSONObject()
    var options = JSONObject()
    if shown.isOnAndroid, !shown.wishes.isEmpty {
      options.set("third_party_channel", .object(shown.wishes))
    }
    if !shown.forVendors.isEmpty { push.set("notification_3rd", .object(shown.forVendors)) }
    var notification = shown.notification
    let ios = try channel?.fields("ios").flatMap { $0.isEmpty ? nil : $0 }
    if let ios { try AppleNotification(ios).write(to: &notification, &options) }
    if !notification.isEmpty { push.set("notification", .object(notification)) }
    if let transmission {
      push.set("message", ["msg_content": .string(transmission)])
    }
    var platforms: [JSONValue] = ["android", "hmos"]
    if transmission != nil { platforms.append("quickapp") }
    if transmission != nil || ios != nil { platforms.append("ios") }
    push.set("platform", .array(platforms))
    if let seconds = settings.timeToLive { options.set("time_to_live", .number(JSONNumber(seconds))) }
    let strategy = JSONValue.number(JSONNumber(settings.strategy))
    let ownOfIOS = settings.iosStrategy.map {
      ["default": strategy, "ios": .number(JSONNumber($0))] as JSONValue
    }
    options.set("strategy", ownOfIOS ?? strategy)
    if settings.speed > 0 { options.set("speed", .number(JSONNumber(settings.speed))) }
    if !settings.activity.isEmpty { options.set("activity", .array(settings.activity.map(\.json))) }
    if settings.skipsNotificationsOff { options.set(PushOptions.notificationSwitch, .bool(true)) }
    // All members are read by now.
    let ignored = message.ignored.names
    if !ignored.isEmpty { options.set("ignored", .array(ignored.map { .string($0) })) }
    push.set("options", .object(options))
    if let callback = settings.callback {
      push.set("callback", ["params": ["custom_callback": .string(callback)]])
    }
    return push
  }
}

extension JSONObject {
  /// Makes an object with these members.
  init(_ members: KeyValuePairs<String, JSONValue>) {
    self.init()
    for (key, value) in members { set(key, value) }
  }
}
