import PushBase
import PushStorage
import Testing

@testable import PushCallbacks

@Suite struct LaneBoardTests {
  let a = CallbackLane(app: AppID(1), origin: "")
  let b = CallbackLane(app: AppID(2), origin: "")
  static let empty = LaneBoard(limits: .init(all: 6, app: 3, host: 4, lane: 2, probes: 1))

  @Test func aDestinationHasItsShare() {
    var board = Self.empty
    let first = board.begin(1, of: a, host: "x", at: 0)
    let again = board.begin(1, of: a, host: "x", at: 0)
    let second = board.begin(2, of: a, host: "x", at: 0)
    let third = board.begin(3, of: a, host: "x", at: 0)
    #expect(first && !again && second && !third)
    let other = board.begin(4, of: b, host: "x", at: 0)
    #expect(other && board.busy == 3)
    board.end(1, of: a, host: "x")
    let freed = board.begin(3, of: a, host: "x", at: 0)
    #expect(freed)
  }

  @Test func anAppAndAHostHaveTheirShares() {
    var board = Self.empty
    var begun: [Bool] = []
    for number in 1...4 {
      let lane = CallbackLane(app: AppID(1), origin: "o\(number)")
      begun.append(board.begin(Int64(number), of: lane, host: "h\(number)", at: 0))
    }
    #expect(begun == [true, true, true, false])
    for number in 5...9 {
      let lane = CallbackLane(app: AppID(UInt32(number)), origin: "")
      begun.append(board.begin(Int64(number), of: lane, host: number < 9 ? "h1" : "h2", at: 0))
    }
    #expect(begun.dropFirst(4) == [true, true, true, false, false])
    #expect(board.room == 0)
  }

  @Test func whatFailsRestsAndIsAskedOnce() {
    var board = Self.empty
    let second: UInt64 = 1_000_000_000
    _ = board.begin(1, of: a, host: "x", at: 0)
    board.answered(a, isSuccess: false, chance: 1, at: 0)
    board.end(1, of: a, host: "x")
    #expect(board.room(of: a, at: second - 1).count == 0)
    #expect(board.room(of: a, at: second).count == 1)
    let probe = board.begin(1, of: a, host: "x", at: second)
    let beside = board.begin(2, of: a, host: "x", at: second)
    #expect(probe && !beside)
    board.answered(a, isSuccess: false, chance: 1, at: second)
    board.end(1, of: a, host: "x")
    #expect(board.room(of: a, at: 3 * second - 1).count == 0)
    let later = board.begin(2, of: a, host: "x", at: 3 * second)
    #expect(later)
    board.answered(a, isSuccess: true, chance: 1, at: 3 * second)
    board.end(2, of: a, host: "x")
    #expect(board.room(of: a, at: 3 * second).count == 2)
    #expect(board.busy == 0)
  }

  @Test func probesHaveAShare() {
    var board = Self.empty
    for lane in [a, b] {
      _ = board.begin(1, of: lane, host: "x", at: 0)
      board.answered(lane, isSuccess: false, chance: 0, at: 0)
      board.end(1, of: lane, host: "x")
    }
    let later: UInt64 = 100_000_000_000
    let first = board.begin(1, of: a, host: "x", at: later)
    #expect(first && board.room(of: b, at: later).count == 0)
    board.answered(a, isSuccess: true, chance: 0, at: later)
    #expect(board.room(of: b, at: later).count == 1)
  }

  @Test func restsGrowToAMinute() {
    var board = Self.empty
    var now: UInt64 = 0
    for _ in 0..<30 {
      _ = board.begin(1, of: a, host: "x", at: now)
      board.answered(a, isSuccess: false, chance: 1, at: now)
      board.end(1, of: a, host: "x")
      now += 60_000_000_000
      #expect(board.room(of: a, at: now).count == 1)
    }
    #expect(board.room(of: a, at: now - 1).count == 0)
    board.forgetIdle(at: now + 600_000_000_000)
    #expect(board.room(of: a, at: 0).count == 2)
  }
}
