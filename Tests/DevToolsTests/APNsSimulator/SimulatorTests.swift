import BorealisBase
import Testing

@testable import DevTools

@Suite struct SimulatorTests {
  let world: RuleWorld
  let simulator: Simulator
  let connection: SimulatedConnection
  let now = Timestamp(milliseconds: RuleWorld.start * 1000)

  init() throws {
    world = try RuleWorld()
    simulator = Simulator(rules: world.rules, log: SimulatorLog(capacity: 3))
    connection = simulator.open(certificate: nil, now: now)
  }

  private func handle(
    _ changes: [String: String?] = [:], stream: Int32 = 1, on other: SimulatedConnection? = nil
  ) -> Decision {
    simulator.handle(world.request(changes), on: other ?? connection, stream: stream, now: now)
  }

  private func reply(_ decision: Decision) -> Decision.Answer? {
    if case .answer(let answer) = decision.stream { answer } else { nil }
  }

  @Test func theIDComesBack() throws {
    let upper = RuleWorld.id.uppercased()
    for id in [RuleWorld.id, upper] {
      let answer = try #require(reply(handle(["apns-id": id])))
      #expect(String(decoding: answer.id, as: UTF8.self) == id)
      #expect(answer.uniqueID == nil)
    }
    for id in [nil, "x"] as [String?] {
      let answer = try #require(reply(handle(["apns-id": id])))
      #expect(NotificationID.isValid(answer.id))
      #expect(answer.verdict.reason == (id == nil ? nil : "BadMessageId"))
    }
    #expect(simulator.log.totals.duplicateIDs == 1)
  }

  @Test func theSandboxGivesASecondID() throws {
    simulator.rules.providerTokens.environment = .sandbox
    let ids = try (1...2).map { _ in try #require(reply(handle())?.uniqueID) }
    #expect(ids.allSatisfy(NotificationID.isValid) && ids[0] != ids[1])
  }

  @Test func moreStreamsAreAllowedOnceSomebodyIsKnown() throws {
    #expect(simulator.initialStreams(certificate: nil) == 1)
    #expect(handle(["authorization": "bearer x"]).connection == [])
    // A push that is refused for another reason has shown who sends it.
    #expect(handle(["apns-topic": nil], stream: 3).connection == [.streams(1000)])
    #expect(handle(stream: 5).connection == [])
    let certificate = ClientCertificate(topics: ["com.example.app"], environments: [.production])
    #expect(simulator.initialStreams(certificate: certificate) == 1000)
    #expect(handle(on: simulator.open(certificate: certificate, now: now)).connection == [])
  }

  @Test func refusalsMayLimitAndEndAConnection() {
    simulator.policy = ConnectionPolicy(streams: 8, limitsAfterRefusal: true, refusalsBeforeClose: 3)
    #expect(handle(stream: 1).connection == [.streams(8)])
    #expect(handle(["apns-id": "x"], stream: 3).connection == [.streams(1)])
    #expect(handle(["apns-id": "x"], stream: 5).connection == [])
    #expect(handle(stream: 7).connection == [.streams(8)])
    #expect(
      handle(["apns-id": "x"], stream: 9).connection == [
        .streams(1), .goAway(last: .stream(9), code: 0, reason: nil),
      ])
  }

  @Test func theScriptSpeaksForApple() throws {
    _ = handle(stream: 1)
    let verdict = Verdict(status: 503, reason: "Shutdown")
    let table: [(FailureAction, Decision.Stream, [Decision.Connection], accepted: Bool)] = [
      (.reset(code: 7, accepted: false), .reset(code: 7), [], false),
      (.reset(code: 2, accepted: true), .reset(code: 2), [], true),
      (.silence(accepted: true), .nothing, [], true),
      (.cut(accepted: false), .nothing, [.cut], false), (.freeze(accepted: true), .nothing, [.freeze], true),
    ]
    for (action, stream, orders, accepted) in table {
      simulator.script.removeAll()
      _ = simulator.script.add(FailureRule(action: action))
      let before = simulator.log.totals.accepted
      let decision = handle(stream: 1)
      #expect(decision.stream == stream)
      #expect(decision.connection == orders)
      #expect(simulator.log.totals.accepted == before + (accepted ? 1 : 0))
    }
    simulator.script.removeAll()
    _ = simulator.script.add(
      FailureRule(delay: 20, action: .answer(verdict, body: .split, retryAfter: 9)))
    let decision = handle(stream: 3)
    #expect(decision.delay == 20)
    let answer = try #require(reply(decision))
    #expect(answer.verdict == verdict && answer.body == .split && answer.retryAfter == 9)
  }

  @Test func goAwayBeforeAPushLeavesItOut() {
    _ = handle(stream: 5)
    _ = simulator.script.add(FailureRule(action: .goAway(last: .before, code: 0, reason: "Shutdown")))
    // The one that came out of order is not covered by the number of the GOAWAY.
    for (stream, outcome, last) in [(7, .nothing, 5), (3, .reset(code: 7), 7)]
      as [(Int32, Decision.Stream, Int32)]
    {
      let decision = handle(stream: stream)
      #expect(decision.stream == outcome)
      #expect(decision.connection == [.goAway(last: .stream(last), code: 0, reason: "Shutdown")])
    }
    #expect(simulator.log.totals.accepted == 1)
  }

  @Test func goAwayNamesTheLastStream() {
    for (last, number) in [
      (FailureAction.LastStream.this, Decision.GoAwayLast.stream(7)), (.announce, .announced),
    ] {
      simulator.script.removeAll()
      _ = simulator.script.add(
        FailureRule(action: .goAway(last: last, code: 0, reason: nil)))
      let decision = handle(stream: 7)
      #expect(reply(decision)?.verdict == .accepted)
      #expect(decision.connection.last == .goAway(last: number, code: 0, reason: nil))
    }
  }

  @Test func theScriptLeavesRefusalsAlone() {
    _ = simulator.script.add(FailureRule(times: 1, action: .cut(accepted: false)))
    #expect(reply(handle(["apns-topic": nil]))?.verdict.reason == "MissingTopic")
    #expect(handle().connection.last == .cut)
  }

  @Test func pushesAfterA410AreFound() throws {
    let token = try #require(SimulatedDeviceToken(RuleWorld.deviceToken.utf8))
    simulator.set(token, .unregistered(timestamp: 1))
    _ = handle()
    #expect(simulator.log.totals.findings == [:])
    _ = handle()
    #expect(simulator.log.totals.findings == [.pushAfterGone: 1])
    simulator.set(token, nil)
    _ = handle()
    #expect(simulator.log.totals.findings == [.pushAfterGone: 1])
  }

  @Test func providerTokensMadeTooOftenAreFound() throws {
    let tokens = try [0, 600, 600, 1800].map { "bearer " + (try world.key.token(at: RuleWorld.start - $0)) }
    let findings = tokens.map { token in
      let fresh = simulator.open(certificate: nil, now: now)
      let before = simulator.log.totals.findings[.providerTokenSpacing] ?? 0
      _ = handle(["authorization": token], on: fresh)
      return (simulator.log.totals.findings[.providerTokenSpacing] ?? 0) - before
    }
    #expect(findings == [0, 1, 1, 0])
    _ = handle(["authorization": tokens[0]], on: simulator.open(certificate: nil, now: now))
    #expect(simulator.log.totals.providerTokens == 4)
  }

  @Test func theLogKeepsTheLatest() {
    for number in 0..<5 {
      let id = "00000000-0000-0000-0000-00000000000\(number % 4)"
      _ = handle(["apns-id": id], stream: Int32(2 * number + 1))
    }
    let log = simulator.log
    #expect(log.entries(after: 0, limit: 10).map(\.number) == [3, 4, 5])
    #expect(log.entries(after: 3, limit: 1).map(\.stream) == [7])
    #expect(log.entries(after: 5, limit: 10).isEmpty)
    #expect(log.totals.requests == 5 && log.totals.accepted == 5)
    #expect(log.totals.duplicateIDs == 1 && log.totals.duplicatePushes == 4)
    simulator.clearLog()
    #expect(simulator.log.entries(after: 0, limit: 10).isEmpty)
    #expect(simulator.log.totals.openConnections == 1)
  }

  @Test func aLineTellsAll() throws {
    simulator.script = FailureScript()
    _ = simulator.script.add(FailureRule(times: 1, action: .reset(code: 7, accepted: false)))
    _ = handle()
    _ = handle(["apns-collapse-id": String(repeating: "x", count: 65)], stream: 3)
    let lines = try simulator.log.entries(after: 0, limit: 2).map { try parseJSON($0.json()) }
    #expect(lines[0]["script"] == "reset")
    #expect(lines[0]["accepted"] == false)
    #expect(lines[0]["status"] == nil)
    #expect(lines[0]["payload"]?["aps"]?["alert"] == "hello")
    #expect(lines[0]["headers"]?["apns-topic"] == "com.example.app")
    #expect(lines[0]["headers"]?["authorization"] == nil)
    #expect(lines[0]["token"] == .string(RuleWorld.deviceToken))
    #expect(lines[0]["time"] == "2027-01-15T08:00:00.000Z")
    #expect(lines[1]["status"] == 400)
    #expect(lines[1]["reason"] == "BadCollapseId")
    #expect(lines[1]["stream"] == 3)
  }

  @Test func aLineIsOneLine() throws {
    var request = world.request(body: "{\n\"aps\" : {\r\n} }\n")
    for _ in 0..<2 { request.add(Array("x-y".utf8)[...], [10, 13, 0xff]) }
    _ = simulator.handle(request, on: connection, stream: 1, now: now)
    request.body = [0xff, 10]
    _ = simulator.handle(request, on: connection, stream: 1, now: now)
    for entry in simulator.log.entries(after: 0, limit: 2) {
      let line = entry.json()
      #expect(!line.contains(10) && !line.contains(13))
      #expect(throws: Never.self) { try parseJSON(line) }
    }
  }
}
