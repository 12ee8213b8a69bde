import BorealisBase
import Core
import HTTP
import Model

/// Serves the status of CIDs, their badges and APNs tokens, and the blacklist.
struct UserController: GetuiController {
  let api: GetuiAPI

  static let routes: [GetuiAPI.Route] = [
    route(.device, "POST", "/user/black/cid/{cid}") { $0.block($1, $2, true) },
    route(.device, "DELETE", "/user/black/cid/{cid}") { $0.block($1, $2, false) },
    route(.device, "GET", "/user/status/{cid}") { $0.showStatus($1, $2) },
    route(.device, "GET", "/user/deviceStatus/{cid}") { $0.showDeviceStatus($1, $2) },
    route(.device, "GET", "/user/detail/{cid}") { $0.showDetail($1, $2) },
    route(.device, "POST", "/user/badge/cid/{cid}") { $0.setBadge($1, $2) },
    route(.device, "POST", "/user/bind_dt/{type}") { $0.bindTokens($1, $2) },
    route(.device, "POST", "/user/count") { $0.count($1, $2) },
    route(.device, "GET", "/user/count") { $0.count($1, $2) },
  ]

  // MARK: Blacklist

  private static let mostChanged = 200
  private static let mostShown = 1000
  private static let mostDeviceStatuses = 100

  private func block(_ call: GetuiCall, _ app: App, _ isBlocked: Bool) {
    call.attempt { () throws(GetuiError) in
      let devices = try app.devices(try call.list("cid", most: Self.mostChanged))
      router.registrations.setBlocked(isBlocked, devices, in: app) { call.answer($0) }
    }
  }

  // MARK: Status

  /// Answers `{cid: {...}}` for the CIDs that the app has.
  private func show(
    _ call: GetuiCall, _ app: App, most: Int,
    _ write: @escaping (inout JSONWriter, RegistrationNumber, DeviceStatus) -> Void
  ) {
    call.attempt { () throws(GetuiError) in
      let cids = try call.list("cid", most: most)
      call.answer { writer in
        writer.beginObject()
        for cid in cids {
          guard let number = app.registration(cid), let status = app.directory.status(number) else {
            continue
          }
          writer.key(cid)
          writer.beginObject()
          write(&writer, number, status)
          writer.endObject()
        }
        writer.endObject()
      }
    }
  }

  private static func word(_ isOnline: Bool) -> String { isOnline ? "online" : "offline" }

  private func showStatus(_ call: GetuiCall, _ app: App) {
    show(call, app, most: Self.mostShown) { writer, number, status in
      // For connections of an earlier run of the server only the last contact is known.
      let login = status.cameSeconds > 0 ? status.cameSeconds : status.sinceSeconds
      if login > 0 { writer.member("last_login_time", String(Int64(login) * 1000)) }
      writer.member("status", Self.word(app.isReachable(number)))
    }
  }

  private func showDeviceStatus(_ call: GetuiCall, _ app: App) {
    show(call, app, most: Self.mostDeviceStatuses) { writer, number, status in
      writer.member("cid_status", Self.word(app.isReachable(number)))
      writer.member("device_status", Self.word(status.isOnline))
    }
  }

  private func showDetail(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let cids = try call.list("cid", most: Self.mostShown)
      let numbers = cids.map { app.registration($0) }
      router.registrations.facts(of: numbers.compactMap { $0 }, in: app) { result in
        switch result {
        case .failure(let failure): call.fail(GetuiError(failure))
        case .success(let facts): Self.answer(call, app, cids, numbers, facts)
        }
      }
    }
  }

  private static func answer(
    _ call: GetuiCall, _ app: App, _ cids: [String], _ numbers: [RegistrationNumber?],
    _ facts: [Registrations.Facts?]
  ) {
    var rest = facts[...]
    let found = zip(cids, numbers).map { cid, number in
      (cid: cid, facts: number == nil ? nil : rest.popFirst() ?? nil)
    }
    call.answer { writer in
      writer.beginObject()
      writer.key("validCids")
      writer.beginObject()
      for case (let cid, let facts?) in found {
        writer.key(cid)
        writer.beginObject()
        writer.member("client_app_id", app.key.text)
        if let token = facts.deviceToken { writer.member("device_token", Hex.encode(token.bytes)) }
        writer.member("phone_type", phoneType(facts.platform))
        writer.member("createTime", String(facts.createdAt.milliseconds))
        writer.endObject()
      }
      writer.endObject()
      writer.key("invalidCids")
      writer.beginArray()
      for (cid, facts) in found where facts == nil { writer.value(cid) }
      writer.endArray()
      writer.endObject()
    }
  }

  /// Returns Getui's number of a platform: 1 Android (also for quick apps, which run on it), 2 iOS, 3
  /// HarmonyOS.
  private static func phoneType(_ platform: Platform) -> Int {
    switch platform {
    case .ios: 2
    case .hmos: 3
    case .android, .quickapp: 1
    }
  }

  /// `/user/count`: how many devices meet the conditions now. Devices on the blacklist count too.
  private func count(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let conditions = try TagConditions(try call.body())
      guard conditions.isCostly else { return Self.count(conditions.target, call, app) }
      let isAccepted = api.background.run(for: app.id.rawValue) { Self.count(conditions.target, call, app) }
      if !isAccepted { throw .busy }
    }
  }

  private static func count(_ target: PushTarget, _ call: GetuiCall, _ app: App) {
    let count = target.members(in: app).count
    call.answer { writer in
      writer.beginObject()
      writer.member("user_count", count)
      writer.endObject()
    }
  }

  // MARK: Badges

  private func setBadge(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let devices = try app.devices(try call.list("cid", most: Self.mostChanged))
      let fields = try call.body()
      try fields.ignoreOthers(than: ["badge"])
      let call = call.ignoring(fields)
      // The example of Getui's PHP client sends a number.
      var text = fields["badge"]?.int64.map { String($0) }
      if text == nil { text = try fields.required("badge", most: 16) }
      guard let badge = text.flatMap({ BadgeChange(getui: $0) }) else {
        throw .invalid("badge", "it must be a number such as 7, +1 or -1, not '\((text ?? "").prefix(64))'")
      }
      router.registrations.changeBadges(badge, of: devices, in: app) { call.answer($0) }
    }
  }

  // MARK: Tokens

  private static let mostTokens = 1000

  /// The channels by the types of their tokens: the names of makers in strategies, and those of channels.
  private static let channels: [String: String] = {
    let makers = VendorOptions.channels.map { ($0.maker.lowercased(), $0.channel) }
    let names = makers + [("ios", "apns"), ("apn", "apns"), ("fcm", "fcm"), ("hoshw", "harmony")]
    return Dictionary(names + names.map { ($0.1, $0.1) }) { first, _ in first }
  }()

  /// A token to bind, and its device.
  private typealias Binding = (device: RegistrationNumber, token: PushToken)

  /// Binds tokens of channels.
  private func bindTokens(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let type = call.captures["type"] ?? ""
      guard let channel = Self.channels[type] else {
        let known = Self.channels.keys.sorted().joined(separator: ", ")
        throw .parameter("permission required by bind_dt/\(type.prefix(32)): known are \(known)")
      }
      let body = try call.body()
      try body.ignoreOthers(than: ["dt_list"])
      let list = try body.objects("dt_list", most: Self.mostTokens)
      let bindings = try list.map { fields throws(GetuiError) in
        try fields.ignoreOthers(than: ["cid", "device_token"])
        return try binding(fields, channel, app)
      }
      bind(bindings[...], call.ignoring(body), app)
    }
  }

  private func binding(
    _ fields: GetuiFields, _ channel: String, _ app: App
  ) throws(GetuiError) -> Binding {
    let cid = try fields.required("cid")
    guard let device = app.registration(cid), let platform = app.directory.identity(device)?.platform else {
      throw .unknownTarget(cid)
    }
    // An empty token removes the device's token; a missing one is an error.
    let name = fields.name("device_token")
    guard let text = try fields.text("device_token") else { throw .missing(name) }
    guard channel == "apns" else {
      switch router.channels.token(ReportedToken(channel: channel, token: text), of: platform) {
      case .success(let token): return (device, token)
      case .failure(let fault): throw .invalid(name, fault.message)
      }
    }
    guard platform == .ios else { throw .invalid(fields.name("cid"), "it is not on iOS") }
    guard let token = Hex.decode(text.lowercased()), token.count <= 100 else {
      throw .invalid(name, "it must have at most 200 hexadecimal digits, two for each byte")
    }
    return (device, PushToken(.production, token))
  }

  /// Binds tokens one after the other, since a token is taken from the registration that had it before.
  private func bind(_ bindings: ArraySlice<Binding>, _ call: GetuiCall, _ app: App) {
    guard let first = bindings.first else { return call.answer() }
    guard first.token.slot == APNsTokenSlot.device.slot else {
      return bind(first.device, first.token, then: bindings.dropFirst(), call, app)
    }
    router.registrations.facts(of: [first.device], in: app) { [self] result in
      // Only the device knows its APNs environment; the default is production.
      let known = (try? result.get())?.first??.deviceToken?.service.environment ?? .production
      bind(first.device, PushToken(known, first.token.bytes), then: bindings.dropFirst(), call, app)
    }
  }

  private func bind(
    _ device: RegistrationNumber, _ token: PushToken, then rest: ArraySlice<Binding>, _ call: GetuiCall,
    _ app: App
  ) {
    router.registrations.setTokens([token], of: device, in: app) { result in
      if case .failure(let failure) = result { return call.fail(GetuiError(failure)) }
      bind(rest, call, app)
    }
  }
}

extension Registrations.Facts {
  /// Getui's device token: the ordinary APNs token; nil if there is none.
  fileprivate var deviceToken: PushToken? { tokens.first { $0.slot == APNsTokenSlot.device.slot } }
}

extension BadgeChange {
  /// Reads a badge in Getui's form: `+1` and `-1` change it, `7` sets it; nil for anything else.
  init?(getui text: String) {
    guard let number = Int32(text), text.utf8.count <= 10 else { return nil }
    switch text.first {
    case "+", "-": self = .add(number)
    default: self = .set(number)
    }
  }
}
