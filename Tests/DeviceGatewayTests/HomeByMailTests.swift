import BorealisBase
import BorealisProtocol
import Core
import Model
import Synchronization
import Testing

@testable import DeviceGateway

/// A home that answers nothing at once, as one in another process would.
final class MailHome: AppHome {
  private let home: LocalHome
  private let channel: PassthroughChannel

  init(_ home: LocalHome, _ channel: PassthroughChannel) { (self.home, self.channel) = (home, channel) }

  func handle(_ messages: [GatewayMessage], answers: inout [HomeMessage]) {
    var known: [HomeMessage] = []
    home.handle(messages, answers: &known)
    for answer in known { channel.send(answer, to: 0) }
  }
}

/// A home that notes in which order it was told of acknowledgements, operations and receipts.
final class NotingHome: AppHome {
  enum Kind { case acknowledgements, operation, receipts }

  let kinds = Mutex<[Kind]>([])
  let receipts = Mutex<[DeviceReceipt]>([])
  private let home: LocalHome

  init(_ home: LocalHome) { self.home = home }

  func handle(_ messages: [GatewayMessage], answers: inout [HomeMessage]) {
    for message in messages {
      switch message {
      case .acknowledgements: kinds.withLock { $0.append(.acknowledgements) }
      case .operation: kinds.withLock { $0.append(.operation) }
      case .receipts(_, let some):
        kinds.withLock { $0.append(.receipts) }
        receipts.withLock { $0 += some }
      default: break
      }
    }
    home.handle(messages, answers: &answers)
  }
}

/// The device server relies on no answer being there at once.
@Suite struct HomeByMailTests {
  private static func terms(_ identity: TestDevice.Identity) -> Audience {
    .filter(AudienceFilter(registrationIDs: [identity.id.text]))
  }

  @Test func `Live and kept pushes, operations and recalls`() throws {
    let server = try TestServer(loops: 1, home: MailHome.init)
    let (device, identity) = try server.device()
    #expect(try device.perform(.setAlias("a")).0 == .ok)
    #expect(try device.perform(.getAlias) == (.ok, .alias("a")))
    var ids = try (0..<3).map { try server.push("\($0)", to: Self.terms(identity)) }
    ids.append(try server.push("all", to: .all))
    #expect(try device.pushes(4).map(\.id) == ids)
    try device.acknowledge([ids[0]])
    _ = try device.perform(.checkTag("a"))
    let again = try server.back(identity)
    #expect(try again.pushes(3).map(\.id) == Array(ids.dropFirst()))
    ids.append(try server.push("last", to: .all))
    #expect(try again.pushes(1).map(\.id) == [ids[4]])
    _ = try TestServer.wait { done in
      server.router.deliveries.recall(ids[4], in: server.app) {
        done($0.mapError { TestServer.Failed("\($0)") })
      }
    }
    #expect(try again.next() == .frame(.recall(ids[4])))
    #expect(try device.next() == .frame(.goAway(.replaced, retryAfter: 0, host: "")))
  }

  @Test func `An operation goes behind the acknowledgements that came with it`() throws {
    var noting: NotingHome?
    let server = try TestServer(
      loops: 1,
      home: { home, _ in
        let made = NotingHome(home)
        noting = made
        return made
      })
    let (device, identity) = try server.device()
    let ids = try (0..<2).map { try server.push("\($0)", to: Self.terms(identity)) }
    _ = try device.pushes(2)
    var frames: [UInt8] = []
    for (sequence, id) in ids.enumerated() {
      ClientFrame.encodeAcknowledge([id], into: &frames)
      ClientFrame.operation(sequence: UInt32(sequence), .setAlias("a\(sequence)")).encode(into: &frames)
    }
    try device.write(frames)
    for _ in ids { _ = try device.next() }
    #expect(noting?.kinds.withLock { $0 } == [.acknowledgements, .operation, .acknowledgements, .operation])
  }

  @Test func `Who is refused is told so`() throws {
    let server = try TestServer(loops: 1, home: MailHome.init)
    let (_, identity) = try server.device()
    let outsider = try TestDevice(port: server.port)
    let other = TestDevice.Identity(id: RegistrationID(high: 1, low: 2), secret: identity.secret)
    try outsider.send(TestDevice.hello)
    try outsider.login(server.app.key, other)
    guard case .frame(.helloOK) = try outsider.next(),
      case .frame(.error(.notRegistered, .never, _)) = try outsider.next()
    else { throw TestServer.Failed("not refused") }
  }

  @Test func `A device that logs in among broadcasts gets each once and in order`() throws {
    let server = try TestServer(loops: 1, home: MailHome.init)
    let (first, identity) = try server.device()
    var ids: [MessageID] = []
    let worker = try Worker { for index in 0..<60 { _ = try? server.push("\(index)", to: .all) } }
    ids.append(try first.pushes(1)[0].id)
    for _ in 0..<5 {
      // What a connection got before is not acknowledged: the next begins with the first again.
      let device = try server.back(identity)
      let arrived = try device.pushes(12).map(\.id)
      #expect(arrived == arrived.sorted() && Set(arrived).count == 12 && arrived.first == ids[0])
    }
    worker.wait()
    let all = try server.back(identity).pushes(60).map(\.id)
    #expect(all == server.waiting(for: identity.id))
  }

  @Test func `The answer to a login finds a connection that has ended`() throws {
    let server = try TestServer(loops: 1, home: MailHome.init)
    let (device, identity) = try server.device()
    let other = try TestDevice(port: server.port)
    try server.whileStalled {
      try other.send(TestDevice.hello)
      try other.login(server.app.key, identity)
      other.shutDownWriting()
    }
    #expect(try device.next() == .frame(.goAway(.replaced, retryAfter: 0, host: "")))
    while server.app.directory.onlineCount > 0 { server.onEachServer { _ in } }
  }
}
