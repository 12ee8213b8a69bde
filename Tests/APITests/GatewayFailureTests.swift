import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API
@testable import Storage

@Suite struct GatewayFailureTests {
  /// A disk that is full, or a database that cannot be written: 5xx in JPush's form, nothing is changed,
  /// reading goes on, and so does everything when the fault is gone.
  @Test(arguments: ["max_page_count = 1", "query_only = ON"])
  func nothingCanBeWritten(fault: String) async throws {
    let world = try await GatewayWorld()
    let id = try await world.register()
    #expect(await world.call("POST", "/v3/devices/\(id.text)", #"{"alias":"own"}"#).status == 200)
    try await world.pragma(fault)
    let message = #""message":{"msg_content":"\#(String(repeating: "x", count: 3900))"}"#
    var accepted: [MessageID] = []
    var refused: [String] = []
    // What fits into the pages that are there is still taken.
    while refused.count < 5 {
      let response = await world.push(message)
      if let id = response.messageID { accepted.append(id) } else { refused.append(response.outcome) }
    }
    // A full disk passes.
    #expect(refused == Array(repeating: fault.hasPrefix("query") ? "500 1000" : "503 1030", count: 5))
    #expect(world.pending(id) == accepted)
    #expect(await world.call("GET", "/v3/devices/\(id.text)").json?["alias"]?.string == "own")
    #expect(await world.call("GET", "/v3/push/cid").status == 200)
    if fault.hasPrefix("query") {
      #expect(accepted.isEmpty)
      #expect(await world.call("POST", "/v3/devices/\(id.text)", #"{"alias":"new"}"#).outcome == "503 7030")
      #expect(await world.call("DELETE", "/v3/aliases/own").outcome == "503 7030")
      #expect(await world.call("DELETE", "/v3/push/1").outcome == "500 1000")
    }
    #expect(world.app.directory.registrations(alias: "own").count == 1)
    try await world.pragma(fault.hasPrefix("query") ? "query_only = OFF" : "max_page_count = 1000000")
    let after = try #require(await world.push(message).messageID)
    #expect(world.pending(id) == accepted + [after])
    #expect(await world.call("POST", "/v3/devices/\(id.text)", #"{"alias":"new"}"#).status == 200)
  }

  /// A queue that is full says "later" with 503, and takes requests again.
  @Test func overload() async throws {
    var options = Store.Options()
    options.writeQueue = 1
    let world = try await GatewayWorld(options: options)
    let id = try await world.register()
    // Both race for the writer; whoever finds the place taken is told so.
    var outcomes: Set<String> = []
    for _ in 0..<200 where outcomes.count < 2 {
      await withTaskGroup(of: String.self) { group in
        for _ in 0..<20 { group.addTask { await world.push().outcome } }
        for await outcome in group { outcomes.insert(outcome) }
      }
    }
    #expect(outcomes == ["200", "503 1030"])
    #expect(await world.push().status == 200)
    #expect(!world.pending(id).isEmpty)
  }

  /// Without the database, an app that is not in memory is not taken for an unknown one.
  @Test func lookUpFails() async throws {
    let world = try await GatewayWorld()
    let header = GatewayWorld.basic(String(repeating: "a", count: 24), GatewayWorld.secret)
    #expect(await world.call("GET", "/v3/push/cid", authorization: header).outcome == "401 1004")
    world.closeStore()
    #expect(await world.call("GET", "/v3/push/cid", authorization: header).outcome == "503 1030")
    #expect(await world.call("GET", "/v3/tags", authorization: header).outcome == "503 7030")
    #expect(await world.push().outcome == "400 1011")
  }

  /// The log names each request by its ID and tells failures of the server as warnings; secrets, names of
  /// people and what pushes say are not in it.
  @Test func log() async throws {
    let world = try await GatewayWorld()
    let id = try await world.register()
    let before = world.log.all.count
    _ = await world.push(#""message":{"msg_content":"confidential"}"#)
    _ = await world.call("GET", "/v3/aliases/jane?new_format=true")
    _ = await world.call("GET", "/v3/devices/\(id.text)")
    try await world.pragma("query_only = ON")
    _ = await world.push(#""message":{"msg_content":"confidential"}"#)
    let lines = world.log.all.dropFirst(before)
    #expect(lines.count == 4)
    for line in lines {
      #expect(line.contains("id=request-7") && line.contains("app=\(world.app.key.text)"))
      for secret in ["confidential", "jane", id.text, GatewayWorld.secret, "Basic"] {
        #expect(!line.contains(secret))
      }
    }
    #expect(lines.map { $0.contains(" warning request failed ") } == [false, false, false, true])
    #expect(lines.last?.contains("status=500") == true)
  }
}
