import BorealisBase
import Core
import PushTesting
import Testing

@testable import Cluster

/// How many logins a home has to answer at a time.
@Suite struct LoginWindowTests {
  private let millisecond: UInt64 = 1_000_000

  private func place(_ slot: Int) -> Location { Location(loop: 0, slot: UInt32(slot), generation: 1) }

  @Test func `What does not fit waits for its turn, and not for long`() {
    var window = LoginWindow()
    for slot in 0..<700 { window.add(place(slot), now: UInt64(slot) * millisecond) }
    var sent: [Location] = []
    while let next = window.next() { sent.append(next) }
    #expect(sent == (0..<512).map(place))
    #expect(window.sentCount == 512 && window.deadline == 5512 * millisecond)
    // An answer makes room for two, and what ends in another way for one.
    window.answered(place(0))
    #expect([window.next(), window.next(), window.next()] == [place(512), place(513), nil])
    window.end(place(1))
    #expect([window.next(), window.next()] == [place(514), nil])
    let tooEarly = window.popLate(now: 5513 * millisecond)
    #expect(tooEarly.isEmpty)
    let late = window.popLate(now: 5600 * millisecond)
    #expect(late == (515...600).map(place))
    // An answer that comes twice counts once.
    let size = window.size
    window.answered(place(0))
    #expect(window.size == size && !window.isSent(place(0)) && window.isSent(place(2)))
  }

  @Test func `A slow home gets fewer, and slowly more again`() {
    var window = LoginWindow()
    window.repeated(now: 0)
    window.repeated(now: 299 * millisecond)
    #expect(window.size == 256)
    for turn in 1...20 as ClosedRange<UInt64> { window.repeated(now: turn * 300 * millisecond) }
    #expect(window.size == LoginWindow.sizes.lowerBound)
    for slot in 0..<160 {
      window.add(place(slot), now: 0)
      _ = window.next()
      window.answered(place(slot))
    }
    #expect((23.0...26).contains(window.size))
    for slot in 0..<100_000 {
      window.add(place(slot), now: 0)
      _ = window.next()
      window.answered(place(slot))
    }
    #expect((400.0...600).contains(window.size))
  }

  /// Each app has a window, and what is over before its turn takes no room.
  @Test func `Apps do not wait for each other, nor for logins that are gone`() {
    var windows = LoginWindows()
    for slot in 0..<600 { windows.add(place(slot), of: AppID(1), now: 0) }
    for slot in 0..<600 where slot % 2 == 0 { windows.end(place(slot)) }
    windows.add(place(1000), of: AppID(2), now: 0)
    var sent: [Location] = []
    while let next = windows.next() { sent.append(next) }
    #expect(sent == (0..<600).filter { $0 % 2 == 1 }.map(place) + [place(1000)])
    #expect(sent.allSatisfy(windows.isSent) && !windows.isSent(place(0)))
    // The other 212 of the first window are free.
    for slot in 2000..<2300 { windows.add(place(slot), of: AppID(1), now: 0) }
    var more = 0
    while windows.next() != nil { more += 1 }
    #expect(more == 212)
    windows.answered(place(1))
    let next = windows.next()
    #expect(next == place(2212))
  }
}
