import BorealisBase
import Core
import HTTP
import Model

/// Serves the tags of CIDs.
struct TagController: GetuiController {
  let api: GetuiAPI

  static let routes: [GetuiAPI.Route] = [
    route(.device, "POST", "/user/custom_tag/cid/{cid}") { $0.setTags($1, $2) },
    route(.device, "GET", "/user/custom_tag/cid/{cid}") { $0.showTags($1, $2) },
    route(.device, "PUT", "/user/custom_tag/batch/{tag}") { $0.addTag($1, $2) },
    route(.device, "DELETE", "/user/custom_tag/batch/{tag}") { $0.removeTag($1, $2) },
  ]

  /// The most CIDs of a batch.
  private static let mostDevices = 1000

  private var today: Int64 { router.zone.local(api.time.now()).date.dayNumber }

  /// Replaces all tags of a CID.
  private func setTags(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let device = try app.device(call.captures["cid"] ?? "")
      let body = try call.body()
      try body.ignoreOthers(than: ["custom_tag"])
      let call = call.ignoring(body)
      guard let tags = try body.texts("custom_tag", most: RegistrationLimits.getuiTags) else {
        throw .missing("custom_tag")
      }
      for (place, tag) in tags.enumerated() { try Self.check(tag, at: "custom_tag[\(place)]") }
      let characters = tags.reduce(0) { $0 + $1.unicodeScalars.count }
      let most = RegistrationLimits.getuiTagCharacters
      guard characters <= most else {
        throw .overLimit("custom_tag", "it has \(characters) characters, at most \(most) are allowed")
      }
      let (day, rates) = (today, api.tagRates)
      guard rates.consumeSet(device, of: app.id, day: day) else { throw .tagsUsedUp }
      let change = DeviceChange(tags: .set(tags), tagLimit: RegistrationLimits.getuiTags)
      router.registrations.change(change, of: device, in: app) { result in
        if case .failure = result { rates.giveBackSet(device, of: app.id, day: day) }
        call.answer(result)
      }
    }
  }

  private static func check(_ tag: String, at name: String) throws(GetuiError) {
    guard tag.unicodeScalars.count <= NameRules.maximumGetuiTag else { throw .tagTooLong(name) }
    try GetuiError.check(tag: tag, at: name)
  }

  private func showTags(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let cid = call.captures["cid"] ?? ""
      let device = try app.device(cid)
      try consumeCall(.query, app)
      router.registrations.details(of: device, in: app) { result in
        switch result {
        case .failure(let failure): call.fail(GetuiError(failure))
        case .success(let details):
          call.answer { writer in
            writer.beginObject()
            writer.key(cid)
            writer.beginArray()
            if !details.tags.isEmpty { writer.value(details.tags.joined(separator: " ")) }
            writer.endArray()
            writer.endObject()
          }
        }
      }
    }
  }

  private func addTag(_ call: GetuiCall, _ app: App) {
    changeTag(call, app, .add) { .edit(add: [$0], remove: []) }
  }

  private func removeTag(_ call: GetuiCall, _ app: App) {
    changeTag(call, app, .remove) { .edit(add: [], remove: [$0]) }
  }

  private func consumeCall(_ kind: TagRates.Call, _ app: App) throws(GetuiError) {
    if let error = api.tagRates.consume(kind, of: app.id, day: today, at: api.time.monotonic()) {
      throw error
    }
  }

  /// Adds a tag to many CIDs or removes it; the answer says for each whether that is now so.
  private func changeTag(
    _ call: GetuiCall, _ app: App, _ kind: TagRates.Call, _ edit: (String) -> TagEdit
  ) {
    call.attempt { () throws(GetuiError) in
      let tag = call.captures["tag"] ?? ""
      try Self.check(tag, at: "custom_tag")
      let body = try call.body()
      try body.ignoreOthers(than: ["cid"])
      let call = call.ignoring(body)
      guard let cids = try body.texts("cid", most: Self.mostDevices), !cids.isEmpty else {
        throw .missing("cid")
      }
      try consumeCall(kind, app)
      let change = DeviceChange(tags: edit(tag), tagLimit: RegistrationLimits.getuiTags)
      let devices = cids.map { app.registration($0) }
      apply(change, to: devices.compactMap { $0 }, app) { result in
        switch result {
        case .failure(let failure): call.fail(GetuiError(failure))
        case .success(let changed):
          call.answer { writer in
            writer.beginObject()
            for (cid, device) in zip(cids, devices) {
              writer.member(cid, String(device.map { changed.contains($0) } ?? false))
            }
            writer.endObject()
          }
        }
      }
    }
  }

  /// Changes, in one commit, the devices that can be changed.
  private func apply(
    _ change: DeviceChange, to devices: [RegistrationNumber], _ app: App,
    _ done: @escaping @Sendable (Result<Set<RegistrationNumber>, DeviceFailure>) -> Void
  ) {
    guard !devices.isEmpty else { return done(.success([])) }
    let changes = devices.map { RegistrationChange($0, change) }
    router.registrations.change(changes, in: app, passingOverUnknown: true) { [self] result in
      switch result {
      case .success: done(.success(Set(devices)))
      case .failure(let refusal) where refusal.failure == .tooManyTags && !refusal.numbers.isEmpty:
        // Devices that already have the most tags stay unchanged.
        let full = Set(refusal.numbers)
        apply(change, to: devices.filter { !full.contains($0) }, app, done)
      case .failure(let refusal): done(.failure(refusal.failure))
      }
    }
  }
}
