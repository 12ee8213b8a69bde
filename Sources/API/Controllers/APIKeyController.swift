import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Borealis' own API for the API keys of an app.
struct APIKeyController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.settings, "GET", "/v1/api-keys") { $0.list($1) },
    route(.settings, "POST", "/v1/api-keys") { $0.create($1) },
    route(.settings, "DELETE", "/v1/api-keys/{id}") { $0.revoke($1) },
  ]

  private func list(_ call: GatewayCall) {
    guard let app = call.app else { return }
    router.apps.keys(of: app) { result in
      guard case .success(let rows) = result else { return call.fail(.timeout) }
      let uses = app.keyUses
      let body = Self.json { writer in
        writer.key("keys")
        writer.beginArray()
        for row in rows where row.revokedAt == nil {
          writer.beginObject()
          row.writeMembers(to: &writer, lastUsedAt: uses[row.id] ?? row.lastUsedAt)
          writer.endObject()
        }
        writer.endArray()
      }
      call.answer(200, body)
    }
  }

  private func create(_ call: GatewayCall) {
    guard let app = call.app, let json = call.body() else { return }
    let grant: APIKeyGrant
    do throws(APIError) {
      grant = try APIKeyGrant.parse(json, at: gateway.time.now())
    } catch {
      return call.fail(error)
    }
    if let excess = call.key.flatMap({ grant.excess(over: $0.grant) }) {
      return call.fail(.notPermitted(excess))
    }
    let entry = call.auditEntry("key.create", "\(grant.name): \(grant.rights.text)")
    router.apps.createKey(grant, of: app, noting: entry) { result in
      switch result {
      case .failure(.tooMany):
        call.fail(.overLimit("The app has \(Apps.keysInApp) API keys already: revoke one that is not used"))
      case .failure: call.fail(.timeout)
      case .success(let created):
        let body = Self.json { writer in
          writer.member("secret", created.secret)
          created.row.writeMembers(to: &writer, lastUsedAt: nil)
        }
        call.answer(200, body)
      }
    }
  }

  private func revoke(_ call: GatewayCall) {
    guard let app = call.app else { return }
    guard let id = Int64(call.captures["id"] ?? ""), id > 0 else {
      return call.fail(.invalidValue("id must be the number of an API key"))
    }
    router.apps.revokeKey(
      id, of: app, noting: { call.auditEntry("key.revoke", $0) },
      done: { result in
        switch result {
        case .success: call.answerEmpty()
        case .failure(.unknown): call.fail(.invalidValue("The app has no API key with this id"))
        case .failure: call.fail(.timeout)
        }
      })
  }
}

extension APIKeyRow {
  fileprivate func writeMembers(to writer: inout JSONWriter, lastUsedAt: Timestamp?) {
    writer.member("id", id)
    writer.member("name", grant.name)
    writer.member("secret_end", secretEnd)
    writer.key("rights")
    writer.beginArray()
    for right in grant.rights.rights { writer.value(right.rawValue) }
    writer.endArray()
    writer.key("networks")
    if let networks = grant.networks {
      writer.beginArray()
      for network in networks { writer.value(network.text) }
      writer.endArray()
    } else {
      writer.null()
    }
    for (name, moment) in [
      ("created_at", createdAt), ("expires_at", grant.expiresAt), ("last_used_at", lastUsedAt),
    ] {
      writer.key(name)
      if let moment { writer.value(Log.iso8601(moment.milliseconds)) } else { writer.null() }
    }
  }
}
