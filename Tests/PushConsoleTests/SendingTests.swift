import PushBase
import PushDomain
import PushGateway
import PushHTTP
import PushRouter
import PushStorage
import PushTesting
import Testing

@testable import PushConsole

/// Whose pushes leave.
@Suite struct SendingTests {
  @Test func `An app that is turned off gets no pushes, and one that is on those of its plan`() async throws {
    var limits = GatewayLimits()
    limits.pushCallsPerMinute = 1
    let world = try ConsoleWorld(limits: limits)
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    let device = try await world.device(in: app)
    _ = await owner.open("/console/")
    let path = "/console/apps/\(app.key.text)/push"
    func send(_ cid: String) async -> HTTPResponse {
      let audience = "{\"registration_id\":[\"\(device.text)\"]}"
      let body = "{\"platform\":\"all\",\"audience\":\(audience),\"notification\":{\"alert\":\"x\"}}"
      return await owner.post(path, ["body": body, "cid": cid])
    }
    #expect(await send("\(app.key.text)-1").status == 303)
    #expect(await send("\(app.key.text)-2").status == 429)
    #expect(await send("\(app.key.text)-!").status == 422)
    #expect(await send("\(AppKey.random().text)-1").status == 403)
    let disabled = try await world.app(of: .standard)
    _ = try await world.store.change { transaction throws(StorageError) in
      try transaction.setDisabled(app: disabled.id, true)
    }
    while !disabled.isDisabled { world.router.tick() }
    let refused = await withCheckedContinuation { done in
      world.router.accept(AcceptRequest(content: PushContent(variants: [])), for: disabled) {
        done.resume(returning: $0)
      }
    }
    #expect(throws: APIError.blacklisted) { try refused.get() }
  }
}
