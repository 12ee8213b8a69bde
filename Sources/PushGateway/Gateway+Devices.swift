import PushBase
import PushDomain
import PushHTTP
import PushJSON
import PushRouter

extension Gateway {
  /// `GET /v3/devices/{rid}`.
  func showDevice(_ call: GatewayCall) {
    guard let (app, number) = call.registration() else { return }
    router.details(of: number, in: app) { result in
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
        writer.endObject()
        call.answer(200, writer.bytes)
      }
    }
  }

  /// `POST /v3/devices/{rid}`: tags, alias and mobile number, each if given. The first that fails ends the call.
  func updateDevice(_ call: GatewayCall) {
    guard let (app, number) = call.registration(), let json = call.body() else { return }
    let update: DeviceUpdate
    do throws(APIError) {
      update = try DeviceUpdate.parse(json, rules: limits.rules)
    } catch {
      call.fail(error)
      return
    }
    var steps: [Step] = []
    if let tags = update.tags {
      let edit: TagEdit =
        switch tags {
        case .clear: .clean
        case .change(let add, let remove): .edit(add: add, remove: remove)
        }
      steps.append { $0.router.changeTags(edit, of: number, in: app, reply: $1) }
    }
    if let alias = update.alias {
      let value: String? = if case .set(let text) = alias { text } else { nil }
      steps.append { $0.router.setAlias(value, of: number, in: app, reply: $1) }
    }
    if let mobile = update.mobile {
      let value: String? = if case .set(let text) = mobile { text } else { nil }
      steps.append { $0.router.setMobile(value, of: number, in: app, reply: $1) }
    }
    run(steps[...], for: call)
  }

  /// `POST /v3/devices/status`.
  func showStatus(_ call: GatewayCall) {
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
        call.fail(.deviceInvalid("registration_ids must hold strings"))
        return
      }
      guard seen.insert(text).inserted else { continue }
      writer.key(text)
      writer.beginObject()
      if let number = RegistrationID(text).flatMap({ app.directory.find($0) }),
        let presence = app.directory.presence(number)
      {
        writer.member("online", presence.isOnline)
        let age = time.now().seconds - Int64(presence.lastSeen)
        if !presence.isOnline, age < 2 * 86_400 {
          let utc8 = Log.iso8601((Int64(presence.lastSeen) + 8 * 3600) * 1000)
          let text = utc8.prefix(19).map { $0 == "T" ? " " : $0 }
          writer.member("last_online_time", String(text))
        }
      }
      writer.endObject()
    }
    writer.endObject()
    call.answer(200, writer.bytes)
  }

  // MARK: Aliases

  /// `GET /v3/aliases/{alias}`.
  func showAlias(_ call: GatewayCall) {
    guard let members = aliasMembers(call) else { return }
    var writer = JSONWriter()
    writer.beginObject()
    let isNew = call.target["new_format"] == "true"
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
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    call.answer(200, writer.bytes)
  }

  private typealias Member = (number: RegistrationNumber, id: RegistrationID, platform: Platform)

  private func aliasMembers(_ call: GatewayCall) -> [Member]? {
    guard let app = call.app, let platforms = call.platforms(),
      let alias = call.name("alias", allowHyphen: limits.rules.allowHyphen)
    else { return nil }
    return app.directory.registrations(alias: alias).compactMap { number -> Member? in
      guard let identity = app.directory.identity(number), platforms.contains(identity.platform) else {
        return nil
      }
      return (number, identity.id, identity.platform)
    }
  }

  /// `DELETE /v3/aliases/{alias}`; an unknown alias is no error.
  func deleteAlias(_ call: GatewayCall) {
    guard let app = call.app, let members = aliasMembers(call) else { return }
    let steps = members.map { member -> Step in
      { $0.router.setAlias(nil, of: member.number, in: app, reply: $1) }
    }
    run(steps[...], for: call)
  }

  /// `POST /v3/aliases/{alias}`: removes the alias from some registrations.
  func updateAlias(_ call: GatewayCall) {
    guard let app = call.app, let members = aliasMembers(call), let json = call.body() else { return }
    let update: DeviceListUpdate
    do throws(APIError) {
      update = try DeviceListUpdate.parseForAlias(json)
    } catch {
      call.fail(error)
      return
    }
    let leaving = Set(update.remove)
    let steps = members.filter { leaving.contains($0.id) }.map { member -> Step in
      { $0.router.setAlias(nil, of: member.number, in: app, reply: $1) }
    }
    run(steps[...], for: call)
  }

  // MARK: Tags

  /// `GET /v3/tags`: at most 100 names, as at JPush.
  func listTags(_ call: GatewayCall) {
    guard let app = call.app else { return }
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("tags")
    writer.beginArray()
    for tag in app.directory.tags.prefix(100) { writer.value(tag) }
    writer.endArray()
    writer.endObject()
    call.answer(200, writer.bytes)
  }

  /// `GET /v3/tags/{tag}/registration_ids/{rid}`.
  func checkTag(_ call: GatewayCall) {
    guard let (app, number) = call.registration(),
      let tag = call.name("tag", allowHyphen: limits.rules.allowHyphen)
    else { return }
    let hasTag = app.directory.hasTag(tag, number)
    call.answer(200, Array("{\"result\":\(hasTag)}".utf8))
  }

  /// `POST /v3/tags/{tag}`: adds the tag to some registrations and takes it from others.
  func updateTag(_ call: GatewayCall) {
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
    let adding = update.add.map { app.directory.find($0) }
    let removing = update.remove.map { app.directory.find($0) }
    guard !adding.contains(nil), !removing.contains(nil) else {
      call.fail(.devicePartlyInvalid("registration_ids names unknown registrations; nothing was changed"))
      return
    }
    let steps =
      adding.compactMap { $0 }.map { number -> Step in
        { $0.router.changeTags(.edit(add: [tag], remove: []), of: number, in: app, reply: $1) }
      }
      + removing.compactMap { $0 }.map { number -> Step in
        { $0.router.changeTags(.edit(add: [], remove: [tag]), of: number, in: app, reply: $1) }
      }
    run(steps[...], for: call)
  }

  /// `DELETE /v3/tags/{tag}`; an unknown tag is no error.
  func deleteTag(_ call: GatewayCall) {
    guard let app = call.app, let platforms = call.platforms(),
      let tag = call.name("tag", allowHyphen: limits.rules.allowHyphen)
    else { return }
    var terms = AudienceTerms()
    terms.tags = [tag]
    let members = app.directory.resolve(terms, platforms: platforms)
    let steps = members.members().map { number -> Step in
      { $0.router.changeTags(.edit(add: [], remove: [tag]), of: number, in: app, reply: $1) }
    }
    run(steps[...], for: call)
  }

  // MARK: Steps

  typealias Step = @Sendable (Gateway, @escaping @Sendable (Result<Void, DeviceFailure>) -> Void) -> Void

  /// Runs changes one batch after another and answers when all are done, or with the first failure. A batch shares a
  /// commit; one at a time, so that a tag of a million devices does not fill the writer's queue for other apps.
  func run(_ steps: ArraySlice<Step>, for call: GatewayCall) {
    guard !steps.isEmpty else {
      call.answerEmpty()
      return
    }
    let batch = steps.prefix(200)
    let rest = steps.dropFirst(200)
    let progress = StepProgress(count: batch.count)
    for step in batch {
      step(self) { [self] result in
        guard let failures = progress.finish(result) else { return }
        if let failure = failures.first { call.fail(Self.error(failure)) } else { run(rest, for: call) }
      }
    }
  }

  static func error(_ failure: DeviceFailure) -> APIError {
    switch failure {
    case .aliasFull: .deviceAliasFull
    case .tooManyTags: .deviceInvalid("The registration would have more than 1000 tags")
    case .unknownRegistration: .deviceInvalid("The registration ID is unknown")
    case .unavailable: .deviceBusy
    }
  }
}
