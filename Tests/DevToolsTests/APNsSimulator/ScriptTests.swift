import BorealisBase
import Testing

@testable import DevTools

@Suite struct ScriptTests {
  let token = SimulatedDeviceToken(String(repeating: "1", count: 64).utf8)
  let other = SimulatedDeviceToken(String(repeating: "2", count: 64).utf8)

  /// At which of twelve pushes a rule acts.
  @Test(
    arguments: [
      (0, 1, nil, Array(1...12)), (0, 1, 3, [1, 2, 3]), (2, 1, 2, [3, 4]), (0, 3, nil, [3, 6, 9, 12]),
      (1, 4, 2, [5, 9]), (12, 1, nil, []), (0, 1, 0, []),
    ] as [(Int, Int, Int?, [Int])])
  func rulesCount(after: Int, every: Int, times: Int?, expected: [Int]) {
    var script = FailureScript()
    _ = script.add(FailureRule(after: after, every: every, times: times))
    var acting: [Int] = []
    for number in 1...12 where script.match(token: token, connection: 1) != nil { acting.append(number) }
    #expect(acting == expected)
    #expect(script.rules.map(\.used) == [expected.count])
  }

  @Test func rulesAreForSomePushes() throws {
    let token = try #require(token)
    let table: [(FailureRule.Scope, [Bool])] = [
      (.everything, [true, true, true]), (.token(token), [true, false, true]),
      (.connection(1), [true, true, false]), (.eachConnection, [true, true, true]),
    ]
    for (scope, expected) in table {
      var script = FailureScript()
      _ = script.add(FailureRule(scope: scope))
      let found = [(token, 1), (other, 1), (token, 2)].map { token, connection in
        script.match(token: token, connection: UInt64(connection)) != nil
      }
      #expect(found == expected, "\(scope)")
    }
  }

  @Test func eachConnectionIsCountedOnItsOwn() {
    var script = FailureScript()
    _ = script.add(FailureRule(scope: .eachConnection, after: 1, times: 1))
    let connections: [UInt64] = [1, 2, 1, 2, 1, 2]
    let found = connections.map { script.match(token: token, connection: $0) != nil }
    #expect(found == [false, false, true, true, false, false])
    script.forget(connection: 1)
    #expect(script.match(token: token, connection: 1) == nil)
    #expect(script.match(token: token, connection: 1) != nil)
  }

  @Test func theFirstRuleThatActsWins() {
    var script = FailureScript()
    _ = script.add(FailureRule(times: 1, action: .silence(accepted: false)))
    _ = script.add(FailureRule(action: .cut(accepted: true)))
    let actions = (1...2).map { _ in script.match(token: token, connection: 1)?.action }
    #expect(actions == [.silence(accepted: false), .cut(accepted: true)])
    script.removeAll()
    #expect(script.match(token: token, connection: 1) == nil)
  }
}
