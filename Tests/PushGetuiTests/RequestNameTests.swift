import PushBase
import PushDomain
import PushHTTP
import PushJSON
import PushRouter
import PushTesting
import Testing

@testable import PushGetui

/// The same `request_id` with the same body is answered again; with another it is refused.
@Suite(.timeLimit(.minutes(1))) struct RequestNameTests {
  private static func body(_ audience: String?, _ text: String, _ settings: String = "{}") -> String {
    let audience = audience.map { #""audience":\#($0),"# } ?? ""
    return
      #"{"request_id":"request-0001",\#(audience)"settings":\#(settings),"push_message":{"transmission":"\#(text)"}}"#
  }

  @Test func `A name stands for one request of all calls`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    let soon = #"{"schedule_time":\#(world.clock.now().milliseconds + 600_000)}"#
    let calls = [
      ("/push/single/cid", #"{"cid":["\#(id.text)"]}"#, "{}"), ("/push/all", #""all""#, "{}"),
      ("/push/list/message", nil, "{}"), ("/push/all", #""all""#, soon),
    ]
    for (index, call) in calls.enumerated() {
      let world = try await GetuiWorld()
      let id = try await world.register()
      let audience = index == 0 ? #"{"cid":["\#(id.text)"]}"# : call.1
      let first = await world.ask("POST", call.0, Self.body(audience, "hi", call.2))
      #expect(first.code == 0, "\(call.0): \(first.message)")
      let blanks = Self.body(audience, "hi", call.2).replacing(":", with: " : ")
      #expect(await world.ask("POST", call.0, blanks).body == first.body)
      var others = calls.map { ($0.0, Self.body($0.1, "hi", $0.2)) }
      others.remove(at: index)
      others.append((call.0, Self.body(audience, "ho", call.2)))
      let waiting = world.pending(id)
      for (path, body) in others where path != "/push/single/cid" || index == 0 {
        let refused = await world.ask("POST", path, body)
        #expect(refused.status == 400 && refused.code == 20001, "\(call.0), then \(path)")
        #expect(refused.message == "request_id cannot be repeat.", "\(call.0), then \(path)")
      }
      #expect(world.pending(id) == waiting)
      // An app of its own has names of its own, and after a day they may be used again.
      #expect(await world.ask("POST", call.0, Self.body(audience, "hi", call.2)).body == first.body)
    }
    #expect(world.pending(id).isEmpty)
  }

  @Test func `A group counts pushes of all calls`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    func body(_ number: Int, _ audience: String) -> String {
      #"{"request_id":"request-000\#(number)","group_name":"sale","audience":\#(audience),"push_message":{"transmission":"hi"}}"#
    }
    let cid = #"{"cid":["\#(id.text)"]}"#
    #expect(await world.ask("POST", "/push/single/cid", body(1, cid)).code == 0)
    #expect(await world.ask("POST", "/push/all", body(2, #""all""#)).code == 0)
    let batch = #"{"msg_list":[\#(body(3, cid))]}"#
    #expect(await world.ask("POST", "/push/single/batch/cid", batch).code == 0)
    let group = await world.ask("GET", "/report/push/task_group/sale").json["data"]?["sale"]
    #expect(group?["total"]?["msg_num"]?.int64 == 3)
  }
}
