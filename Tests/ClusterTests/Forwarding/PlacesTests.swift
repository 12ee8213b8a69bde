import BorealisBase
import Cluster
import HTTP
import Testing

/// Connections to several homes when there are no more places for them.
@Suite struct PlacesTests {
  private let one = AppKey.random()
  private let two = AppKey.random()

  private func follow(_ front: TestFront, _ first: TestHome, _ second: TestHome) {
    front.forwarder.follow(
      RequestHomes(
        installation: .node(first.address), apps: [one: .node(first.address), two: .node(second.address)]))
  }

  private func hold(_ front: TestFront, of app: AppKey, count: Int) throws -> [TestClient] {
    let clients = try (0..<count).map { _ in try TestClient(front) }
    for client in clients {
      try client.send("GET /held HTTP/1.1\r\nHost: h\r\nX-App: \(app.text)\r\n\r\n")
    }
    return clients
  }

  /// The statuses of the next answers.
  private func statuses(_ clients: [TestClient]) throws -> [Int?] {
    try clients.map { try $0.response()?.status }
  }

  @Test func `Idle connections to one home make room for another`() throws {
    let (a, b) = (try TestHome("a"), try TestHome("b"))
    let front = try TestFront { ($0.connections, $0.waitMilliseconds) = (4, 5000) }
    front.forwarder.follow(
      RequestHomes(installation: .node(a.address), apps: [one: .node(a.address)]))
    let first = try hold(front, of: one, count: 4)
    #expect(eventually { a.seen.count == 4 })
    a.answerHeld("a")
    #expect(try statuses(first) == [200, 200, 200, 200])
    #expect(front.metric("borealis_forward_connections") == 4)
    follow(front, a, b)
    let second = try hold(front, of: two, count: 3)
    #expect(eventually { b.seen.count == 3 })
    b.answerHeld("b")
    #expect(try statuses(second) == [200, 200, 200])
    #expect(front.metric("borealis_forward_connections") == 4)
    // One was left, which is kept for its home: it needs no new one.
    let third = try hold(front, of: one, count: 1)
    #expect(eventually { a.seen.count == 5 })
    a.answerHeld("a")
    #expect(try statuses(third) == [200])
    #expect(front.requests("refused") == 0)
  }

  @Test func `A home that stands still leaves the others their places`() throws {
    let (a, b) = (try TestHome("a"), try TestHome("b"))
    let front = try TestFront { ($0.connections, $0.waitMilliseconds) = (8, 5000) }
    follow(front, a, b)
    let stuck = try hold(front, of: one, count: 12)
    #expect(eventually { a.seen.count == 6 && front.waiting == 6 })
    // Two places are kept for the other home, and both are used at once.
    let others = try hold(front, of: two, count: 2)
    #expect(eventually { b.seen.count == 2 })
    b.answerHeld("b")
    #expect(try statuses(others) == [200, 200])
    // The first one has its places still, and no more.
    #expect(a.seen.count == 6)
    let isServed = eventually {
      a.answerHeld("a")
      return front.requests("answered") == 14
    }
    #expect(isServed)
    #expect(try statuses(stuck) == [Int?](repeating: 200, count: 12))
  }

  /// The home that has more gives places away as its answers come, though requests wait for it, too.
  @Test func `Homes with waiting requests share the places`() throws {
    let (a, b) = (try TestHome("a"), try TestHome("b"))
    let front = try TestFront { ($0.connections, $0.waitMilliseconds) = (8, 60_000) }
    follow(front, a, b)
    let many = try hold(front, of: one, count: 40)
    #expect(eventually { a.seen.count == 6 && front.waiting == 34 })
    let few = try hold(front, of: two, count: 4)
    #expect(eventually { b.seen.count == 2 && front.waiting == 36 })
    a.answerHeld("a")
    // It has given two of its six places away: half of all.
    #expect(eventually { b.seen.count == 4 })
    b.answerHeld("b")
    #expect(try statuses(few) == [200, 200, 200, 200])
    let isServed = eventually {
      a.answerHeld("a")
      return front.requests("answered") == 44
    }
    #expect(isServed)
    #expect(try statuses(many) == [Int?](repeating: 200, count: 40))
  }
}
