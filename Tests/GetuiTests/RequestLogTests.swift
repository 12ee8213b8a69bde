import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Testing

@testable import API

/// Calls of Getui's API in the log of requests.
@Suite struct RequestLogTests {
  @Test func `Calls of Getui's API are logged, without CIDs and aliases`() async throws {
    let world = try await GetuiWorld()
    let token = await world.token()
    _ = await world.call(
      "POST", "/user/alias", #"{"data_list":[{"cid":"nobody","alias":"ann-margret"}]}"#, token: token)
    _ = await world.call("GET", "/user/cid/alias/ann-margret", token: token)
    _ = await world.call("GET", "/user/cid/alias/ann-margret", token: "wrong")
    _ = await world.call("POST", "/push/single/cid", "{", token: token)
    let rows = try await world.router.requestLog.list(
      of: world.app, APIRequestFilter(), before: .newest, limit: 100
    ).get().rows
    let calls = Set(rows.map { "\($0.call.kind) \($0.call.route) \($0.call.status) \($0.call.code)" })
    #expect(calls.contains("successful /v2/{appId}/auth 200 0"))
    #expect(calls.contains("unauthenticated /v2/{appId}/user/cid/alias/{alias} 401 10001"))
    #expect(calls.contains("refused /v2/{appId}/push/single/cid 200 1"), "its clients get 200 with a code")
    #expect(rows.allSatisfy { !"\($0)".contains("margret") && !"\($0)".contains("nobody") })
  }
}
