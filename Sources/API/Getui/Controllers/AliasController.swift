import BorealisBase
import Core
import HTTP
import Model

/// Serves the aliases of CIDs, which are those of the device API. `alias_type` has no effect.
struct AliasController: GetuiController {
  let api: GetuiAPI

  static let routes: [GetuiAPI.Route] = [
    route(.device, "POST", "/user/alias") { $0.bind($1, $2) },
    route(.device, "DELETE", "/user/alias") { $0.unbind($1, $2) },
    route(.device, "DELETE", "/user/alias/{alias}") { $0.unbindAll($1, $2) },
    route(.device, "GET", "/user/alias/cid/{cid}") { $0.showAlias($1, $2) },
    route(.device, "GET", "/user/cid/alias/{alias}") { $0.showDevices($1, $2) },
  ]

  /// The most entries of a list.
  private static let mostEntries = 1000

  private struct Entry {
    let device: RegistrationNumber
    let alias: String
  }

  private func entries(_ body: GetuiFields, _ app: App) throws(GetuiError) -> [Entry] {
    try body.ignoreOthers(than: ["data_list"])
    let list = try body.objects("data_list", most: Self.mostEntries)
    var entries: [Entry] = []
    var seen: Set<RegistrationNumber> = []
    entries.reserveCapacity(list.count)
    for fields in list {
      try fields.ignoreOthers(than: ["cid", "alias"])
      let cid = try fields.required("cid")
      let alias = try fields.required("alias")
      try GetuiError.check(alias: alias, at: fields.name("alias"))
      guard let device = app.registration(cid) else { throw .unknownTarget(cid) }
      guard seen.insert(device).inserted else {
        throw .parameter("contains duplicate cid: '\(cid.prefix(64))' is given twice")
      }
      entries.append(Entry(device: device, alias: alias))
    }
    return entries
  }

  private func bind(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let body = try call.body()
      let changes = try entries(body, app).map {
        RegistrationChange($0.device, DeviceChange(alias: .set($0.alias)))
      }
      change(changes, call.ignoring(body), app)
    }
  }

  /// A CID that does not have the alias is no error.
  private func unbind(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      var holders: [ExactName: Set<RegistrationNumber>] = [:]
      let body = try call.body()
      let bound = try entries(body, app).filter { entry in
        let known = holders[ExactName(entry.alias)] ?? Set(app.directory.registrations(alias: entry.alias))
        holders[ExactName(entry.alias)] = known
        return known.contains(entry.device)
      }
      change(
        bound.map { RegistrationChange($0.device, DeviceChange(alias: .remove($0.alias))) },
        call.ignoring(body), app)
    }
  }

  private func unbindAll(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let alias = try alias(call)
      let (devices, goes) = (app.directory.registrations(alias: alias), DeviceChange(alias: .remove(alias)))
      // A device that registered again in the meantime has lost it as well.
      change(devices.map { RegistrationChange($0, goes) }, passingOverUnknown: true, call, app)
    }
  }

  private func change(
    _ changes: [RegistrationChange], passingOverUnknown: Bool = false, _ call: GetuiCall, _ app: App
  ) {
    guard !changes.isEmpty else { return call.answer() }
    router.registrations.change(changes, in: app, passingOverUnknown: passingOverUnknown) {
      call.answer($0.mapError(\.failure))
    }
  }

  private func showAlias(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let device = try app.device(call.captures["cid"] ?? "")
      router.registrations.details(of: device, in: app) { result in
        switch result {
        case .failure(let failure): call.fail(GetuiError(failure))
        case .success(let details):
          call.answer { writer in
            writer.beginObject()
            if let alias = details.alias { writer.member("alias", alias) }
            writer.endObject()
          }
        }
      }
    }
  }

  private func showDevices(_ call: GetuiCall, _ app: App) {
    call.attempt { () throws(GetuiError) in
      let devices = app.directory.registrations(alias: try alias(call))
      api.readCIDs(of: devices, in: app) { cids in
        call.answer { writer in
          writer.beginObject()
          writer.key("cid")
          writer.beginArray()
          for case let cid? in devices.map({ cids[$0] }) { writer.value(cid) }
          writer.endArray()
          writer.endObject()
        }
      }
    }
  }

  private func alias(_ call: GetuiCall) throws(GetuiError) -> String {
    let alias = call.captures["alias"] ?? ""
    try GetuiError.check(alias: alias)
    return alias
  }
}
