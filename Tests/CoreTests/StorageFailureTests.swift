import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Testing

@Suite struct StorageFailureTests {
  /// While nothing can be written, everything is refused and memory stays as the database is; afterwards all
  /// goes on, and what was acknowledged meanwhile is settled.
  @Test(arguments: TestWorld.Fault.allCases)
  func nothingCanBeWritten(fault: TestWorld.Fault) async throws {
    let isFull = fault == .full
    // Nothing of it was stored, so that who sent it may repeat it once there is room: a 503.
    let refusal: APIError =
      isFull ? .timeout.saying("The disk of the server is full, please retry later") : .internalError
    #expect(refusal.httpStatus == (isFull ? 503 : 500))
    let world = try await TestWorld()
    let device = try await world.register(fingerprint: [1])
    let place = world.login(device)
    let before = try await world.push()
    _ = world.channel.drain()
    try await world.setFault(fault, true)
    // A full disk takes what fits into the pages that are there already.
    var accepted: [MessageID] = []
    var refusals = 0
    while refusals < 5 {
      var request = AcceptRequest.test(cid: "c\(accepted.count)", large: true)
      request.push.options.overrideMessageID = accepted.last
      switch await world.accept(request) {
      case .success(let push): accepted.append(push.id)
      case .failure(let error):
        #expect(error == refusal)
        refusals += 1
      }
    }
    if !isFull { #expect(accepted.isEmpty) }
    let waiting = [before] + accepted.suffix(1)
    #expect(world.pending(device) == waiting)
    #expect(world.channel.drain() == accepted.map { .single($0, device.number, place) })
    if !isFull {
      #expect(isFailed(await world.change(DeviceChange(alias: .set("zoe")), of: device), .unavailable))
      #expect(await world.recall(before) == .failure(.internalError))
      await #expect(throws: DeviceFailure.unavailable) { try await world.register(fingerprint: [1]) }
    }
    #expect(world.app.directory.find(device.id) == device.number, "not replaced")
    #expect(world.app.directory.registrations(alias: "zoe") == [])
    #expect(world.pending(device) == waiting)
    world.router.deliveries.acknowledge([before], by: device.number, in: world.app)
    for _ in 0..<3 { world.router.tick() }
    try await world.setFault(fault, false)
    try await world.tick()
    #expect(try await world.outcome(of: before)?.status == .delivered, "tried again")
    let after = try await world.push()
    #expect(world.pending(device) == waiting.dropFirst() + [after])
    #expect(isDone(await world.change(DeviceChange(alias: .set("zoe")), of: device)))
    try await world.restart(isOrderly: false)
    #expect(world.pending(device) == waiting.dropFirst() + [after])
  }

  /// More requests than the queue takes are told to come back; those that were taken are answered.
  @Test func overload() async throws {
    let world = try await TestWorld()
    _ = try await world.register()
    world.store.close()
    guard case .failure(let error) = await world.accept(.test()) else {
      Issue.record("accepted by a closed store")
      return
    }
    #expect(error.httpStatus == 500)
    let found = await awaitCallback { done in
      world.router.apps.find(AppKey(high: 1, low: 2)) { done($0) }
    }
    #expect(throws: DeviceFailure.unavailable) { try found.get() }
  }

  /// A long read does not hold up commits, and sees its own state of the database to the end.
  @Test func readersDoNotBlock() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let first = try await world.push()
    let (started, go) = (Gate(), Gate())
    let store = world.store
    async let seen = store.look { transaction throws(StorageError) in
      var ids: [MessageID] = []
      try transaction.deliveries.open(in: .all) { ids.append($0.push.id) }
      started.open()
      go.wait()
      try transaction.deliveries.open(in: .all) { ids.append($0.push.id) }
      return ids
    }
    started.wait()
    var later: [MessageID] = []
    for _ in 0..<100 { later.append(try await world.push()) }
    go.open()
    #expect(try await seen == [first, first])
    #expect(world.pending(device) == [first] + later)
  }
}

extension AcceptRequest {
  fileprivate static func test(cid: String, large: Bool) -> AcceptRequest {
    var request = AcceptRequest.test(cid: cid)
    let text = [UInt8](repeating: UInt8(ascii: "x"), count: 4000)
    request.push.content = PushContent(variants: [
      ContentVariant(platforms: .all, message: Array("{\"msg_content\":\"".utf8) + text + Array("\"}".utf8))
    ])
    return request
  }
}
