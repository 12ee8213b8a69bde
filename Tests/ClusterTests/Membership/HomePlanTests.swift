import BorealisBase
import Cluster
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
    #expect(HomePlan.move(among: [])?.apps == nil)
  }

  @Test(arguments: [
    ([[1], [1]], [[1], [1]]), ([[7], []], [[7], []]), ([[1, 1], []], [[1], [1]]),
    ([[1, 1, 1], [1]], [[1, 1], [1, 1]]),
    ([[10, 1], [2]], [[10], [1, 2]]), ([[4, 4, 4, 4, 4, 4], [], []], [[4, 4], [4, 4], [4, 4]]),
    ([[9, 1, 1], [8, 1, 1], []], [[1, 1, 1, 1], [8], [9]]),
    // One that cannot give its only app away does not keep the others as they are.
    ([[100], [5, 5], []], [[100], [5], [5]]),
  ])
  func `Moves come to an end when no home has much more than another`(before: [[Int]], after: [[Int]]) {
    var homes = candidates(before)
    var moves = 0
    while let move = HomePlan.move(among: homes), moves < 100 {
      moves += 1
      for index in homes.indices {
        for app in move.apps {
          if homes[index].home == move.from.home { homes[index].apps[app] = nil }
          if homes[index].home == move.to.home { homes[index].apps[app] = move.from.apps[app] }
        }
      }
    }
    #expect(homes.map { $0.apps.values.sorted() } == after.map { $0.sorted() })
  }

  // MARK: Bundles

  @Test(
    arguments: [
      ([], []), ([[1]], []), ([[1, 2]], [[1, 2]]), ([[1, 2], [3, 4]], [[1, 2], [3, 4]]),
      ([[1, 2], [2, 3]], [[1, 2, 3]]), ([[5, 6], [1, 2], [2, 6], [9]], [[1, 2, 5, 6]]),
      ([[3, 4], [1, 2], [7, 8], [8, 1], [4, 7]], [[1, 2, 3, 4, 7, 8]]),
    ] as [([[UInt32]], [[UInt32]])])
  func `What shares something with the same app is one bundle`(sets: [[UInt32]], expected: [[UInt32]]) {
    let bundles = bundles(sets)
    for bundle in expected {
      for app in bundle { #expect(bundles[AppID(app)] == bundle.map { AppID($0) }) }
    }
    #expect(bundles[AppID(100)] == [AppID(100)])
    #expect(bundles == self.bundles(expected))
  }

  private func bundles(_ sets: [[UInt32]]) -> AppBundles {
    AppBundles(sets.map { Set($0.map { AppID($0) }) })
  }

  /// Homes whose apps have given numbers, and weigh so much.
  private func homes(_ apps: [[UInt32: Int]]) -> [HomeCandidate] {
    apps.enumerated().map { index, apps in
      let apps = Dictionary(uniqueKeysWithValues: apps.map { (AppID($0), $1) })
      return HomeCandidate(node: Int64(index + 1), home: Int64(index + 1), apps: apps)
    }
  }

  @Test(
    arguments: [
      // Nothing of it has a home: all of it where least is.
      ([[9: 5], [:]], [1: 5, 2: 5, 3: 9], [1: 2, 2: 2, 3: 1]),
      // What has one is followed, although that home has more.
      ([[9: 50, 1: 1], [:]], [2: 5], [2: 1]),
      // Those that have most of it.
      ([[1: 1], [4: 7], [9: 9]], [2: 5], [2: 2]),
    ] as [([[UInt32: Int]], [UInt32: Int], [UInt32: Int64])])
  func `A bundle without homes, or a part of one, is placed together`(
    apps: [[UInt32: Int]], homeless: [UInt32: Int], expected: [UInt32: Int64]
  ) {
    let weights = Dictionary(uniqueKeysWithValues: homeless.map { (AppID($0), $1) })
    let placed = HomePlan.place(weights, among: homes(apps), bundles: bundles([[1, 2, 4]]))
    let found = Dictionary(uniqueKeysWithValues: placed.map { ($0.app.rawValue, $0.home.home) })
    #expect(found == expected)
  }

  @Test(
    arguments: [
      // Divided: to the one that has most of it, although it has more than others.
      ([[1: 5, 9: 90], [2: 4], [:]], [2], 2, 1),
      // The least part first; of equal ones the one at the lower number stays.
      ([[1: 2], [2: 5], [4: 1]], [4], 3, 2), ([[1: 1], [2: 1]], [2], 2, 1),
      // United, it goes as a whole: lighter ones would do less.
      ([[1: 3, 2: 3, 4: 3, 9: 1, 10: 4], [:]], [1, 2, 4], 1, 2),
      // It is too heavy to go, and is not divided for that.
      ([[1: 3, 2: 3, 4: 3], [9: 1]], [], 0, 0),
    ] as [([[UInt32: Int]], [UInt32], Int64, Int64)])
  func `A divided bundle is united before anything else, and moves as a whole`(
    apps: [[UInt32: Int]], moved: [UInt32], from: Int64, to: Int64
  ) {
    let move = HomePlan.move(among: homes(apps), bundles: bundles([[1, 2, 4]]))
    #expect(move?.apps.map(\.rawValue) ?? [] == moved)
    #expect(move?.from.home ?? 0 == from && move?.to.home ?? 0 == to)
  }
}
