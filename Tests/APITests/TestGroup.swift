import BorealisBase
import BorealisCrypto
import Core
import HTTP
import PushTesting

@testable import API
@testable import Storage

/// A group of apps, as which a test calls.
struct TestGroup {
  let key: String
  let secret: String
}

extension GatewayWorld {
  func makeGroup(_ apps: [App]) async throws -> TestGroup {
    let key = AppKey(high: SystemRandom.next(), low: 2)
    let secret = "76543210abcdef0123456789"
    try await awaitCallback { done in
      database.store.write { transaction throws(StorageError) in
        let group = try transaction.appGroups.create(
          key: key, name: "group", secretHash: SHA256.digest(Array(secret.utf8)),
          at: Timestamp(milliseconds: 0))
        for app in apps { _ = try transaction.appGroups.addApp(app.key, toGroup: group) }
      } completion: {
        done($0)
      }
    }.get()
    return TestGroup(key: key.text, secret: secret)
  }

  func call(
    _ group: TestGroup, _ method: String, _ target: String, _ body: String = "",
    type: String = "application/json"
  ) async -> HTTPResponse {
    var headers = HTTPHeaders()
    headers.append("authorization", Self.basic("group-\(group.key)", group.secret))
    headers.append("content-type", type)
    let request = HTTPRequest(method: method, target: target, headers: headers, body: Array(body.utf8))
    return await awaitCallback { done in
      gateway.handle(request, GatewayReply(requestID: "r") { done($0) })
    }
  }

  func pending(_ id: RegistrationID, in app: App) -> [MessageID] {
    guard let number = app.directory.find(id) else { return [] }
    return app.directory.pending(
      for: number, after: MessageID(0), at: UInt32(clamping: clock.now().seconds), limit: 1000
    ).ids
  }
}
