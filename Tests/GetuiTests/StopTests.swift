import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Synchronization
import Testing

@testable import API
@testable import Storage

/// Stored messages that are stopped after many calls have sent them, and calls that are not answered in time.
@Suite(.timeLimit(.minutes(1))) struct StopTests {
  /// Stores a message and sends it to a device some times; gives the task.
  private func send(_ count: Int, to id: RegistrationID, _ world: GetuiWorld) async throws -> String {
    let message = #"{"request_id":"request-0001","push_message":{"transmission":"hi"}}"#
    let stored = await world.ask("POST", "/push/list/message", message)
    let task = try #require(stored.json["data"]?["taskid"]?.string, "\(stored.message)")
    let list = #"{"audience":{"cid":["\#(id.text)"]},"taskid":"\#(task)","is_async":true}"#
    let token = await world.token()
    for _ in 0..<count {
      #expect(await world.call("POST", "/push/list/cid", list, token: token).code == 0)
    }
    return task
  }

  @Test func `A task of many pushes is stopped in few steps`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let task = try await send(50, to: id, world)
    #expect(world.pending(id).count == 50)
    let before = world.store.statistics.jobs
    #expect(await world.ask("DELETE", "/task/\(task)").code == 0)
    #expect(world.pending(id).isEmpty)
    let after = world.store.statistics.jobs
    #expect(after - before <= 10)
    let token = await world.token()
    // What is recalled is not recalled again.
    #expect(await world.call("DELETE", "/task/\(task)", token: token).code == 0)
    #expect(world.store.statistics.jobs - after <= 2)
    let list = #"{"audience":{"cid":["\#(id.text)"]},"taskid":"\#(task)"}"#
    #expect(await world.call("POST", "/push/list/cid", list, token: token).code == 22002)
  }

  /// Notes which pushes devices are told to remove.
  private final class Connections: DeviceGateway {
    private let told = Mutex<[MessageID]>([])

    func send(_ message: HomeMessage, to loop: UInt16) {}
    func sendToAll(_ message: HomeMessage) {
      if case .recall(let id, _, _) = message { told.withLock { $0.append(id) } }
    }
    func recalled() -> [MessageID] { told.withLock { $0 } }
  }

  /// Whoever stops a wrong message hours later does not want it on phones. Those that may still arrive come
  /// first.
  @Test func `Devices are told of pushes whose time to live is over too`() async throws {
    let world = try await GetuiWorld()
    let connections = Connections()
    world.router.add(connections)
    let id = try await world.register()
    let task = try await send(2, to: id, world)
    world.clock.advance(seconds: 7000)
    let list = #"{"audience":{"cid":["\#(id.text)"]},"taskid":"\#(task)"}"#
    #expect(await world.ask("POST", "/push/list/cid", list).code == 0)
    let pushes = world.pending(id)
    #expect(pushes.count == 3)
    world.clock.advance(seconds: 201)
    world.router.tick()
    #expect(await world.ask("DELETE", "/task/\(task)").code == 0)
    #expect(connections.recalled() == pushes.suffix(1) + pushes.prefix(2))
    // How a push ended before stays as it was.
    let recalled = try await world.store.change { transaction throws(StorageError) in
      try transaction.database.first("SELECT count(*) FROM outcome WHERE taken_back_at IS NOT NULL") {
        $0.count()
      }
    }
    #expect(recalled == 1)
  }

  /// Who repeats the sending of a list pushes twice: only requests with a name may be told to be repeated.
  @Test(
    arguments: [
      ("push/list/cid", .unansweredList), ("push/list/alias?x=1", .unansweredList),
      ("push/list/cid_by_tag", .unansweredList), ("push/list/message", .unanswered),
      ("push/single/batch/cid", .unanswered), ("push/all", .unanswered), ("task/RASL_1", .unansweredCall),
      ("user/badge/cid/x", .unansweredCall),
    ] as [(String, GetuiError)])
  func `Calls are told to be repeated if they have a name`(path: String, expected: GetuiError) {
    let answer = GetuiAPI.refusal(.unanswered, of: "/v2/0123456789abcdef01234567/\(path)")
    #expect(answer?.body == expected.json())
    #expect(expected.message.contains("repeat it with the same request_id") == (expected == .unanswered))
  }
}
