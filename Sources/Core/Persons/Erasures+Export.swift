import BorealisBase
import Model
import Storage

/// What is stored of a registration of a person.
package struct PersonalData: Sendable {
  package let registration: RegistrationRow
  package let tags: [String]
  package let facts: [FactValue]
  package let tokens: [PushToken]
  /// The name as a device for tests, if it is one.
  package let testDevice: String?
  /// The latest pushes to it, the newest first.
  package fileprivate(set) var pushes: [Push]
  /// Before which push the next page goes on; nil at the end.
  package fileprivate(set) var next: MessageID?

  /// A push, without its audience.
  package typealias Push = (id: MessageID, createdAt: Timestamp, object: JSONValue)
}

extension PersonalData {
  /// What is stored of a person, as a JSON document. `channels` has the names.
  package static func document(_ data: [PersonalData], _ channels: [ChannelInfo]) -> [UInt8] {
    var document = JSONObject()
    document.set("registrations", .array(data.map { .object($0.json(channels)) }))
    return JSONWriter.serialize(.object(document))
  }

  private func json(_ channels: [ChannelInfo]) -> JSONObject {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    func moment(_ time: Timestamp) -> JSONValue { .number(JSONNumber(time.milliseconds)) }
    var json = JSONObject()
    json.set("registration_id", .string(registration.registrationID.text))
    json.set("platform", .string(registration.platform.name))
    json.set("fingerprint", .string(Hex.encode(registration.fingerprint)))
    json.set("created_at", moment(registration.createdAt))
    json.set("last_seen_at", moment(registration.lastSeenAt))
    json.set("app_version", .string(registration.appVersion))
    json.set("alias", text(registration.alias))
    json.set("tags", .array(tags.map { .string($0) }))
    json.set("mobile", text(registration.mobile))
    json.set("badge", .number(JSONNumber(registration.badge)))
    json.set("test_device", text(testDevice))
    var known = JSONObject()
    for fact in facts { known.set(fact.fact.name, .string(fact.text)) }
    json.set("facts", .object(known))
    json.set(
      "tokens",
      .array(
        tokens.map { token in
          let channel = channels.first { $0.id == token.slot.channel }?.name ?? ""
          let isText = token.bytes.allSatisfy { $0 > 32 && $0 < 127 }
          return [
            "channel": .string(channel),
            "token": .string(isText ? String(decoding: token.bytes, as: UTF8.self) : Hex.encode(token.bytes)),
          ]
        }))
    json.set(
      "pushes",
      .array(
        pushes.map { push in
          ["msg_id": .string(push.id.text), "created_at": moment(push.createdAt), "push": push.object]
        }))
    json.set("next", text(next?.text))
    return json
  }
}

extension Erasures {
  /// Registrations of a person, and pushes to each, in one page.
  private static let mostRegistrations = 100
  private static let pushesInPage = 50
  /// Pushes that are looked at for a page, and sets of registrations among them.
  private static let (depth, groups) = (5000, 100)

  /// What is stored of a person, with pushes older than one.
  package func data(
    of person: DataSubject, in app: App, before: MessageID?,
    reply: @escaping @Sendable (Result<[PersonalData], DeviceFailure>) -> Void
  ) {
    store.read(inTurnOf: app.id) { transaction throws(StorageError) in
      var found: [PersonalData] = []
      let numbers = try transaction.erasures.registrations(
        of: person, app: app.id, limit: Self.mostRegistrations)
      for number in numbers {
        if let one = try Self.data(of: number, app: app.id, before: before, in: transaction) {
          found.append(one)
        }
      }
      return found
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// Devices and pages of pushes to them in an export.
  private static let pages = 100

  /// What is stored of a person, with pushes of up to so many pages, each of which is a read of its own.
  package func export(
    of person: DataSubject, in app: App,
    reply: @escaping @Sendable (Result<[PersonalData], DeviceFailure>) -> Void
  ) {
    data(of: person, in: app, before: nil) { [self] result in
      guard case .success(let found) = result else { return reply(result) }
      goOn(found, in: app, left: Self.pages, reply: reply)
    }
  }

  private func goOn(
    _ found: [PersonalData], in app: App, left: Int,
    reply: @escaping @Sendable (Result<[PersonalData], DeviceFailure>) -> Void
  ) {
    guard left > 0, let index = found.firstIndex(where: { $0.next != nil }) else {
      return reply(.success(found))
    }
    let device = DataSubject.registration(found[index].registration.registrationID)
    data(of: device, in: app, before: found[index].next) { [self] result in
      guard case .success(let page) = result else { return reply(result) }
      var found = found
      found[index].pushes += page.first?.pushes ?? []
      found[index].next = page.first?.next
      goOn(found, in: app, left: left - 1, reply: reply)
    }
  }

  private static func data(
    of number: RegistrationNumber, app: AppID, before: MessageID?, in transaction: ReadTransaction
  ) throws(StorageError) -> PersonalData? {
    guard let row = try transaction.registrations.find(app: app, number: number) else { return nil }
    let (pushes, next) = try transaction.pushes.latest(
      app: app, of: number, before: before ?? MessageID(UInt64(Int64.max)), limit: pushesInPage,
      depth: depth, groups: groups
    ) { targets, unreached in
      [targets, unreached].contains { NumberSet(serialized: $0)?.contains(number) == true }
    }
    let objects = try pushes.map { push throws(StorageError) in
      (id: push.id, createdAt: push.createdAt, object: try object(of: push.id, in: transaction))
    }
    let id = row.registrationID.text
    return PersonalData(
      registration: row, tags: try transaction.tags.names(app: app, numbers: row.tags).sorted(),
      facts: try transaction.facts.values(app: app, of: number) ?? [],
      tokens: try transaction.tokens.all(app: app, of: number).map(\.token).filter { !$0.bytes.isEmpty },
      testDevice: try transaction.testDevices.name(app: app, id), pushes: objects, next: next)
  }

  /// What a push said. Its audience may name others.
  private static func object(
    of id: MessageID, in transaction: ReadTransaction
  ) throws(StorageError) -> JSONValue {
    let bytes = try transaction.pushes.object(of: id)
    guard case .object(var push)? = bytes.flatMap({ try? parseJSON($0) }) else { return .null }
    _ = push.remove("audience")
    return .object(push)
  }
}
