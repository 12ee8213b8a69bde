import PushBase
import PushMembership
import Testing

/// Which home each app is to have.
@Suite struct HomePlanTests {
  private func candidates(_ weights: [[Int]]) -> [HomeCandidate] {
    var next: UInt32 = 100
    return weights.enumerated().map { index, weights in
      var apps: [AppID: Int] = [:]
      for weight in weights {
        next += 1
        apps[AppID(next)] = weight
      }
      return HomeCandidate(node: Int64(index + 1), home: Int64(index + 1), apps: apps)
    }
  }

  @Test(
    arguments: [
      // Nobody is there.
      ([[]], [], []),
      // All to the only one.
      ([[5]], [1, 2, 3], [1, 1, 1]),
      // The heaviest first, each to the one that has least.
      ([[], []], [10, 1, 9, 3], [1, 1, 2, 2]),
      // An app that is empty weighs something, too.
      ([[], [], []], [0, 0, 0, 0, 0, 0], [1, 2, 3, 1, 2, 3]),
      // Nothing more to one that has much.
      ([[100], [1], [2]], [1, 1, 1], [2, 2, 3]),
    ] as [([[Int]], [Int], [Int64])])
  func `Apps without a home go where least is`(homes: [[Int]], apps: [Int], expected: [Int64]) {
    let weights = Dictionary(
      uniqueKeysWithValues: apps.enumerated().map { (AppID(UInt32($0 + 1)), $1) })
    let placed = HomePlan.place(weights, among: candidates(homes))
    let homes = Dictionary(uniqueKeysWithValues: placed.map { ($0.app.rawValue, $0.home.home) })
    #expect(homes.sorted { $0.key < $1.key }.map(\.value) == expected)
  }

  @Test func `Without a candidate nothing is placed`() {
    #expect(HomePlan.place([AppID(1): 5], among: []).isEmpty)
    #expect(HomePlan.move(among: []) == nil)
  }

  @Test(arguments: [
    ([[1], [1]], [[1], [1]]), ([[7], []], [[7], []]), ([[1, 1], []], [[1], [1]]),
    ([[1, 1, 1], [1]], [[1, 1], [1, 1]]),
    ([[10, 1], [2]], [[10], [1, 2]]), ([[4, 4, 4, 4, 4, 4], [], []], [[4, 4], [4, 4], [4, 4]]),
    ([[9, 1, 1], [8, 1, 1], []], [[1, 1, 1], [1, 8], [9]]),
  ])
  func `Moves come to an end when no home has much more than another`(before: [[Int]], after: [[Int]]) {
    var homes = candidates(before)
    var moves = 0
    while let move = HomePlan.move(among: homes), moves < 100 {
      moves += 1
      for index in homes.indices {
        if homes[index].home == move.from.home { homes[index].apps[move.app] = nil }
        if homes[index].home == move.to.home { homes[index].apps[move.app] = move.from.apps[move.app] }
      }
    }
    #expect(homes.map { $0.apps.values.sorted() } == after.map { $0.sorted() })
  }
}
