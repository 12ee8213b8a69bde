import BorealisBase
import BorealisNet
import BorealisProtocol
import Core
import DeviceGateway
import Model
import Testing

/// Device sessions over WebSocket: the same as over TCP, and what the wrapping adds.
@Suite struct WebSocketDeviceTests {
  private static func device(
    _ server: TestServer
  ) throws -> (TestDevice, TestDevice.Identity) {
    let device = try TestDevice.overWebSocket(server)
    let identity = try device.register(server.app.key)
    try device.login(server.app.key, identity)
    _ = try device.expectLogin()
    return (device, identity)
  }

  private static func bytes(_ frames: ClientFrame...) -> [UInt8] {
    var bytes: [UInt8] = []
    for frame in frames { frame.encode(into: &bytes) }
    return bytes
  }

  private static func masked(_ first: UInt8, _ content: [UInt8]) -> [UInt8] {
    WebSocketUnwrapper.masked(first, content)
  }

  @Test func `Pushes to one and to all arrive in order, among devices over TCP`() throws {
    let server = try TestServer()
    let (web, identity) = try Self.device(server)
    let (plain, _) = try server.device()
    let one = Audience.filter(AudienceFilter(registrationIDs: [identity.id.text]))
    let text = String(repeating: "x", count: 60_000)
    let ids = try (0..<40).map { try server.push($0 % 2 == 0 ? text : "hi", to: $0 % 4 == 0 ? one : .all) }
    #expect(try web.pushes(40).map(\.id) == ids)
    #expect(try plain.pushes(30).count == 30)
    try web.acknowledge(ids)
    #expect(try web.perform(.checkTag("a")).0 == .ok)
    #expect(server.waiting(for: identity.id) == [])
    #expect(server.metrics.render().contains("borealis_device_websockets_total 1\n"))
  }

  /// A slow browser falls behind and catches up as a slow phone does.
  @Test func `A slow reader loses nothing`() throws {
    var limits = PassthroughLimits()
    limits.queuedBytes = 4096
    limits.unsettled = .max
    let server = try TestServer(limits: limits)
    let (slow, _) = try Self.device(server)
    let (quick, _) = try server.device()
    let text = String(repeating: "x", count: 3000)
    let ids = try (0..<3000).map { _ in try server.push(text, to: .all) }
    #expect(try quick.pushes(ids.count).map(\.id) == ids)
    #expect(try slow.pushes(ids.count).map(\.id) == ids)
    #expect(server.metrics.render().contains("borealis_device_slow_total"))
  }

  @Test func `Every byte may come alone, and a message in fragments`() throws {
    let server = try TestServer()
    let device = try TestDevice.overWebSocket(server)
    let register = RegisterRequest(appKey: server.app.key, platform: .ios, fingerprint: [1], appVersion: "1")
    let frames = Self.bytes(TestDevice.hello, .register(register))
    let fragments =
      Self.masked(0x02, Array(frames[..<9])) + Self.masked(0x89, [7]) + Self.masked(0x00, [])
      + Self.masked(0x80, Array(frames[9...]))
    for byte in fragments { try device.write([byte]) }
    guard case .frame(.helloOK) = try device.next(), case .frame(.registerOK) = try device.next() else {
      Issue.record("not registered")
      return
    }
    #expect(device.pongs == [[7]])
  }

  @Test func `A message that is empty or ends within a frame is a protocol error`() throws {
    let server = try TestServer(loops: 1)
    for wrong in [
      Self.masked(0x82, []), Self.masked(0x82, [0x02, 0x20]), Self.masked(0x82, [0x01, 0x01, 0x8c]),
    ] {
      let (device, _) = try Self.device(server)
      try device.write(wrong)
      var last = try device.next()
      if last == .frame(.pong) { last = try device.next() }
      #expect(last == .frame(.goAway(.protocolError, retryAfter: 0, host: "")))
      #expect(server.app.directory.onlineCount == 0)
      try device.write(Self.masked(0x88, [3, 0xe8]))
      #expect(try device.next() == .end)
      #expect(device.closes == [1000])
    }
  }

  @Test(
    arguments: [
      ([0x82, 0x02, 0x01, 0x01], 1002), ([0x81, 0x80, 0, 0, 0, 0], 1003),
      ([0x82, 0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0], 1009), ([0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 4], 1009),
    ] as [([UInt8], UInt16)])
  func `Bytes that are no frame end the session with a Close alone`(bytes: [UInt8], code: UInt16) throws {
    let server = try TestServer(loops: 1)
    let (device, _) = try Self.device(server)
    try device.write(bytes + [UInt8](repeating: 0xff, count: 100_000))
    try device.write(Self.masked(0x88, []))
    device.shutDownWriting()
    #expect(try device.next() == .end)
    #expect(device.closes == [code])
    #expect(server.app.directory.onlineCount == 0)
  }

  @Test func `A Close is answered, and the device is away`() throws {
    let server = try TestServer(loops: 1)
    let (device, _) = try Self.device(server)
    try device.write(Self.masked(0x88, [3, 0xe8] + Array("bye".utf8)))
    #expect(try device.next() == .end)
    #expect(device.closes == [1000])
    #expect(server.app.directory.onlineCount == 0)
  }

  /// The login has its 5 seconds whatever comes, and the Close then waits for its answer for a while only.
  @Test func `Half a frame does not keep a connection`() throws {
    let server = try TestServer(loops: 1)
    let device = try TestDevice.overWebSocket(server)
    try device.write(Array(Self.masked(0x82, Self.bytes(TestDevice.hello)).dropLast()))
    guard case .frame(.error(.loginTimeout, .afterBackOff, _)) = try device.next() else {
      Issue.record("not the error of a late login")
      return
    }
    #expect(try device.next() == .end)
    #expect(device.closes == [1000])
  }

  @Test func `Whoever sends Pings and never reads is cut off`() throws {
    let server = try TestServer(loops: 1)
    let (device, _) = try Self.device(server)
    let (other, _) = try server.device()
    var pings: [UInt8] = []
    for _ in 0..<500 { pings += Self.masked(0x89, [UInt8](repeating: 1, count: 125)) }
    var sent = 0
    while sent < 200 << 20 {
      let count = device.writeSome(Array(pings[(sent % pings.count)...]))
      if count < 0 { break }
      sent += count
      if count == 0 { try other.ping() }
    }
    #expect(sent < 200 << 20)
    #expect(try other.perform(.checkTag("a")).0 == .ok)
    #expect(server.app.directory.onlineCount == 1)
  }

  /// The HTTP side refuses it before.
  @Test func `Whoever comes with much to be sent is cut off`() throws {
    let server = try TestServer(loops: 1, handshake: String(repeating: "x", count: 5000) + "\n")
    #expect(try TestDevice.overWebSocket(server).next() == .end)
    #expect(server.metrics.render().contains("borealis_device_slow_total 1\n"))
  }

  @Test func `A drain says so in both languages`() throws {
    let server = try TestServer()
    let (device, _) = try Self.device(server)
    server.onEachServer { $0.drain(spread: 1000) }
    guard case .frame(.goAway(.drain, _, "")) = try device.next() else {
      Issue.record("not told to go away")
      return
    }
    device.shutDownWriting()
    #expect(try device.next() == .end)
    #expect(device.closes == [1001])
  }

  @Test func `A second login over TCP ends the session over WebSocket`() throws {
    let server = try TestServer()
    let (web, identity) = try Self.device(server)
    let plain = try server.back(identity)
    #expect(try web.next() == .frame(.goAway(.replaced, retryAfter: 0, host: "")))
    try web.write(Self.masked(0x88, [3, 0xe8]))
    #expect(try web.next() == .end)
    #expect(try plain.perform(.getAlias).0 == .ok)
    #expect(server.app.directory.onlineCount == 1)
  }
}
