import BorealisBase
import Core
import HTTP
import Model

struct DeviceController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.device, "GET", "/v3/devices/{rid}") { $0.showDevice($1) },
    route(.device, "POST", "/v3/devices/{rid}") { $0.updateDevice($1) },
    route(.device, "DELETE", "/v1/devices/{rid}") { $0.deleteDevice($1) },
    route(.device, "POST", "/v3/devices/status") { $0.showStatus($1) },
    route(.device, "GET", "/v3/aliases/{alias}") { $0.showAlias($1) },
    route(.device, "POST", "/v3/aliases/{alias}") { $0.updateAlias($1) },
    route(.device, "DELETE", "/v3/aliases/{alias}") { $0.deleteAlias($1) },
    route(.device, "GET", "/v3/tags") { $0.listTags($1) },
    route(.device, "GET", "/v3/tags/{tag}/registration_ids/{rid}") { $0.checkTag($1) },
    route(.device, "POST", "/v3/tags/{tag}") { $0.updateTag($1) },
    route(.device, "DELETE", "/v3/tags/{tag}") { $0.deleteTag($1) },
  ]

  /// `GET /v3/devices/{rid}`.
  private func showDevice(_ call: GatewayCall) {
    guard let (app, number) = call.registration() else { return }
    router.registrations.details(of: number, in: app) { result in
      switch result {
      case .failure(let failure): call.fail(Self.error(failure))
      case .success(let details):
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("tags")
        writer.beginArray()
        for tag in details.tags { writer.value(tag) }
        writer.endArray()
        writer.key("alias")
        if let alias = details.alias { writer.value(alias) } else { writer.null() }
        writer.key("mobile")
        if let mobile = details.mobile { writer.value(mobile) } else { writer.null() }
        if call.request.wantsExtensions { Self.write(app.directory.facts(of: number), to: &writer) }
        writer.endObject()
        call.answer(200, writer.bytes)
      }
    }
  }

  private static func write(_ facts: [DeviceFact: String], to writer: inout JSONWriter) {
    writer.key("facts")
    writer.beginObject()
    for (fact, value) in facts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      writer.member(fact.name, value)
    }
    writer.endObject()
  }

  /// `POST /v3/devices/{rid}`: tags, alias and mobile number, each if given; all of it or nothing.
  private func updateDevice(_ call: GatewayCall) {
    guard let (app, number) = call.registration(), let json = call.body() else { return }
    let update: DeviceUpdate
    let ignored = IgnoredMembers()
    do throws(APIError) {
      update = try DeviceUpdate.parse(json, rules: limits.rules, ignored: ignored)
    } catch {
      call.fail(error)
      return
    }
    let call = call.ignoring(ignored.names)
    router.registrations.change(DeviceChange(update), of: number, in: app) { result in
      switch result {
      case .success: call.answerEmpty()
      case .failure(let failure): call.fail(Self.error(failure))
      }
    }
  }

  /// `DELETE /v1/devices/{rid}`.
  private func deleteDevice(_ call: GatewayCall) {
    guard let (app, number) = call.registration() else { return }
    router.registrations.delete(number, in: app) { result in
      switch result {
      case .success: call.answerEmpty()
      case .failure(let failure): call.fail(Self.error(failure))
      }
    }
  }

  /// `POST /v3/devices/status`.
  private func showStatus(_ call: GatewayCall) {
    guard let app = call.app, let json = call.body() else { return }
    guard let ids = json["registration_ids"]?.array, (1...1000).contains(ids.count) else {
      call.fail(.deviceInvalid("registration_ids must be an array of 1 to 1000 registration IDs"))
      return
    }
    var writer = JSONWriter()
    writer.beginObject()
    var seen: Set<String> = []
    for id in ids {
      guard let text = id.string else {
        call.fail(.deviceInvalid("registration_ids must hold strings only"))
        return
      }
      guard seen.insert(text).inserted else { continue }
      writer.key(text)
      writer.beginObject()
      if let number = RegistrationID(text).flatMap({ app.directory.find($0) }),
        let presence = app.directory.presence(number)
      {
        let age = gateway.time.now().seconds - Int64(presence.lastSeen)
        let isOnline = presence.isOnline || age < Self.onlineSeconds
        writer.member("online", isOnline)
        if !isOnline, age < 2 * 86_400 {
          writer.member("last_online_time", local(presence.lastSeen).text)
        }
      }
      writer.endObject()
    }
    writer.endObject()
    call.answer(200, writer.bytes)
  }

  /// Seconds for which a device counts as online after it was connected, as at JPush.
  private static let onlineSeconds: Int64 = 600

  private func local(_ seconds: UInt32) -> LocalTime {
    router.zone.local(Timestamp(milliseconds: Int64(seconds) * 1000))
  }

  // MARK: Aliases

  /// `GET /v3/aliases/{alias}`.
  private func showAlias(_ call: GatewayCall) {
    guard let members = aliasMembers(call)?.members else { return }
    var writer = JSONWriter()
    writer.beginObject()
    let isNew =
      call.query("new_format") == "true" || call.captures["alias"]?.hasSuffix(Self.looseQuery) == true
    writer.key(isNew ? "data" : "registration_ids")
    writer.beginArray()
    for member in members {
      guard isNew else {
        writer.value(member.id.text)
        continue
      }
      writer.beginObject()
      writer.member("registration_id", member.id.text)
      writer.member("platform", member.platform.name)
      // A device that was never connected, as after an import, has none.
      if let presence = call.app?.directory.presence(member.number), presence.lastSeen > 0 {
        let last = presence.isOnline ? UInt32(clamping: gateway.time.now().seconds) : presence.lastSeen
        writer.member("last_online_date", local(last).date.text)
      }
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    call.answer(200, writer.bytes)
  }

  /// JPush's Go client forgets the question mark.
  private static let looseQuery = "&new_format=true"

  private typealias Member = (number: RegistrationNumber, id: RegistrationID, platform: Platform)

  private func aliasMembers(_ call: GatewayCall) -> (alias: String, members: [Member])? {
    guard let app = call.app, let platforms = call.platforms(),
      let alias = call.name(
        "alias", allowHyphen: limits.rules.allowHyphen, withoutSuffix: Self.looseQuery)
    else { return nil }
    let members = app.directory.registrations(alias: alias).compactMap { number -> Member? in
      guard let identity = app.directory.identity(number), platforms.contains(identity.platform) else {
        return nil
      }
      return (number, identity.id, identity.platform)
    }
    return (alias, members)
  }

  /// `DELETE /v3/aliases/{alias}`; an unknown alias is no error.
  private func deleteAlias(_ call: GatewayCall) {
    guard let app = call.app, let (alias, members) = aliasMembers(call) else { return }
    let goes = DeviceChange(alias: .remove(alias))
    // A device that registered again in the meantime has lost it as well.
    change(
      members.map { RegistrationChange($0.number, goes) }, in: app, passingOverUnknown: true, for: call)
  }

  /// `POST /v3/aliases/{alias}`: removes the alias from some registrations; that one does not have it is no
  /// error.
  private func updateAlias(_ call: GatewayCall) {
    guard let app = call.app, let (alias, members) = aliasMembers(call), let json = call.body() else {
      return
    }
    let update: DeviceListUpdate
    do throws(APIError) {
      update = try DeviceListUpdate.parseForAlias(json)
    } catch {
      call.fail(error)
      return
    }
    guard registrations(update.remove, beside: update.malformed, call) != nil else { return }
    let leaving = Set(update.remove)
    let changes = members.filter { leaving.contains($0.id) }
      .map { RegistrationChange($0.number, DeviceChange(alias: .remove(alias))) }
    change(changes, in: app, for: call)
  }

  // MARK: Tags

  /// `GET /v3/tags`: at most 100 names, as at JPush.
  private func listTags(_ call: GatewayCall) {
    guard let app = call.app else { return }
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("tags")
    writer.beginArray()
    for tag in app.directory.firstTags(100) { writer.value(tag) }
    writer.endArray()
    writer.endObject()
    call.answer(200, writer.bytes)
  }

  /// `GET /v3/tags/{tag}/registration_ids/{rid}`.
  private func checkTag(_ call: GatewayCall) {
    guard let (app, number) = call.registration(),
      let tag = call.name("tag", allowHyphen: limits.rules.allowHyphen)
    else { return }
    let hasTag = app.directory.hasTag(tag, number)
    call.answer(200, Array("{\"result\":\(hasTag)}".utf8))
  }

  /// `POST /v3/tags/{tag}`: adds the tag to some registrations and takes it from others.
  private func updateTag(_ call: GatewayCall) {
    guard let app = call.app, let tag = call.name("tag", allowHyphen: limits.rules.allowHyphen),
      let json = call.body()
    else { return }
    let update: DeviceListUpdate
    do throws(APIError) {
      update = try DeviceListUpdate.parseForTag(json)
    } catch {
      call.fail(error)
      return
    }
    guard let numbers = registrations(update.add + update.remove, beside: update.malformed, call) else {
      return
    }
    let (comes, goes) = (
      DeviceChange(tags: .edit(add: [tag], remove: [])), DeviceChange(tags: .edit(add: [], remove: [tag]))
    )
    let changes = numbers.enumerated().map { place, number in
      RegistrationChange(number, place < update.add.count ? comes : goes)
    }
    change(changes, in: app, for: call)
  }

  /// The registrations behind some IDs; answers the call itself if one is unknown, or if it names malformed
  /// ones too.
  private func registrations(
    _ ids: [RegistrationID], beside malformed: [String], _ call: GatewayCall
  ) -> [RegistrationNumber]? {
    guard let app = call.app else { return nil }
    let numbers = app.directory.find(ids)
    let unknown = zip(ids, numbers).filter { $0.1 == nil }.map(\.0.text)
    guard malformed.isEmpty, unknown.isEmpty else {
      let message =
        malformed.first.map { "registration_ids: '\($0.prefix(64))' is not a valid registration id" }
        ?? "registration_ids names unknown registrations; nothing was changed"
      let isPart = unknown.count < ids.count
      call.fail(
        isPart ? .devicePartlyInvalid(message) : .deviceInvalid(message), illegal: malformed + unknown)
      return nil
    }
    return numbers.compactMap { $0 }
  }

  /// `DELETE /v3/tags/{tag}`; an unknown tag is no error.
  private func deleteTag(_ call: GatewayCall) {
    guard let app = call.app, let platforms = call.platforms(),
      let tag = call.name("tag", allowHyphen: limits.rules.allowHyphen)
    else { return }
    let members = app.directory.resolve(AudienceFilter(tags: [tag]), platforms: platforms).numbers
    removeTag(tag, from: members, startingAt: RegistrationNumber(0), in: app, for: call)
  }

  /// Removes a tag from some members and then continues with the next, so that a tag of a million devices
  /// fills neither the memory nor the writer's queue.
  private func removeTag(
    _ tag: String, from members: NumberSet, startingAt start: RegistrationNumber, in app: App,
    for call: GatewayCall
  ) {
    let batch = members.members(from: start, limit: Self.batch)
    guard let last = batch.last else {
      call.answerEmpty()
      return
    }
    let goes = DeviceChange(tags: .edit(add: [], remove: [tag]))
    // A device that registered again in the meantime has lost the tag as well.
    router.registrations.change(batch.map { RegistrationChange($0, goes) }, in: app, passingOverUnknown: true)
    {
      [self] result in
      if case .failure(let refusal) = result {
        call.fail(Self.error(refusal.failure))
      } else if last.rawValue < .max {
        let next = RegistrationNumber(last.rawValue + 1)
        removeTag(tag, from: members, startingAt: next, in: app, for: call)
      } else {
        call.answerEmpty()
      }
    }
  }

  // MARK: Many changes

  /// Devices that lose a tag in one commit.
  private static let batch = 200

  /// Makes up to some thousand changes in one commit: all of them, or none. An error names the devices that
  /// caused it.
  private func change(
    _ changes: [RegistrationChange], in app: App, passingOverUnknown: Bool = false, for call: GatewayCall
  ) {
    guard !changes.isEmpty else {
      call.answerEmpty()
      return
    }
    router.registrations.change(changes, in: app, passingOverUnknown: passingOverUnknown) { result in
      switch result {
      case .success: call.answerEmpty()
      case .failure(let refusal) where refusal.numbers.isEmpty: call.fail(Self.error(refusal.failure))
      case .failure(let refusal):
        // A device that is no longer in memory has registered again in the meantime.
        let ids = refusal.numbers.compactMap { app.directory.identity($0)?.id.text }
        call.fail(Self.error(refusal.failure), illegal: ids)
      }
    }
  }

  static func error(_ failure: DeviceFailure) -> APIError {
    switch failure {
    case .aliasFull: .deviceAliasFull
    case .tooManyTags: .deviceInvalid("A registration would have more than 1000 tags; nothing was changed")
    case .appTagsFull, .newTagsUsedUp:
      .deviceInvalid(
        "The app would have more than \(RegistrationLimits.tagsPerApp) tags; nothing was changed")
    case .unknownRegistration: .deviceInvalid("registration_id is unknown: the app has no such device")
    case .unknownKey: .deviceInvalid("The key is unknown")
    case .invalidToken: .deviceInvalid("The token is invalid")
    case .unavailable: .deviceBusy
    }
  }
}

extension DeviceChange {
  /// Reads the request.
  fileprivate init(_ update: DeviceUpdate) {
    self.init(
      tags: update.tags.map {
        switch $0 {
        case .clear: .clean
        case .change(let add, let remove): .edit(add: add, remove: remove)
        }
      }, alias: update.alias.map { $0.text.map { AliasEdit.set($0) } ?? .clear },
      mobile: update.mobile.map { $0.text.map { TextEdit.set($0) } ?? .clear })
  }
}

extension DeviceUpdate.Text {
  /// The new text, nil for none.
  fileprivate var text: String? { if case .set(let text) = self { text } else { nil } }
}
