import BorealisBase
import BorealisProtocol

/// A device that does only what it is told.
final class TestDevice {
  /// What a registration gives.
  struct Identity {
    let id: RegistrationID
    let secret: DeviceSecret
  }

  /// A push as it arrived.
  struct Arrival: Equatable {
    let id: String
    let isOffline: Bool
    let content: JSONValue
  }

  private let socket: any TestLine
  private var bytes: [UInt8] = []
  private var position = 0

  /// Connects and greets.
  convenience init(_ address: String) throws { try self.init(TestSocket(address)) }

  /// Greets over a connection.
  init(_ socket: any TestLine) throws {
    self.socket = socket
    try send(.hello(Hello(clientName: "test")))
    guard case .helloOK = try next() else { throw Unexpected() }
  }

  struct Unexpected: Error {}

  /// Makes a registration on a connection of its own.
  static func register(
    _ address: String, app key: String, install: String, platform: Platform = .android
  ) throws -> Identity {
    try register(TestSocket(address), app: key, install: install, platform: platform)
  }

  /// Makes a registration over a connection.
  static func register(
    _ socket: any TestLine, app key: String, install: String, platform: Platform = .android
  ) throws -> Identity {
    guard let key = AppKey(hex: Array(key.utf8)) else { throw Unexpected() }
    let device = try TestDevice(socket)
    try device.send(
      .register(
        RegisterRequest(
          appKey: key, platform: platform, fingerprint: Array(install.utf8), appVersion: "1")))
    guard case .registerOK(let id, let secret) = try device.next() else { throw Unexpected() }
    return Identity(id: id, secret: secret)
  }

  /// Connects and logs in.
  static func login(
    _ address: String, app key: String, _ identity: Identity, appState: AppState = .foreground
  ) throws -> TestDevice {
    try login(TestSocket(address), app: key, identity, appState: appState)
  }

  /// Logs in over a connection.
  static func login(
    _ socket: any TestLine, app key: String, _ identity: Identity, appState: AppState = .foreground
  ) throws -> TestDevice {
    guard let key = AppKey(hex: Array(key.utf8)) else { throw Unexpected() }
    let device = try TestDevice(socket)
    try device.send(
      .login(
        LoginRequest(
          appKey: key, registrationID: identity.id, secret: identity.secret, heartbeat: 60,
          appState: appState)))
    guard case .loginOK = try device.next() else { throw Unexpected() }
    return device
  }

  func send(_ frame: ClientFrame) throws {
    var output: [UInt8] = []
    frame.encode(into: &output)
    try socket.send(output)
  }

  /// The next frame; of a push, `arrival` tells more.
  func next() throws -> ServerFrame {
    while true {
      let known = bytes
      let found = scanFrame(known.span, at: position, limit: WireLimits.maxFrame)
      if case .frame(let type, let body, let end) = found {
        position = end
        return try ServerFrame(type: type, body: body, in: known.span)
      }
      let more = try socket.receive()
      guard !more.isEmpty else { throw Unexpected() }
      bytes += more
    }
  }

  /// The next frame, which must be a push. It is not acknowledged.
  func arrival() throws -> Arrival {
    guard case .push(let view) = try next() else { throw Unexpected() }
    return Arrival(
      id: view.messageID.text, isOffline: view.isOffline, content: try parseJSON(Array(bytes[view.content])))
  }

  /// What comes for a session, besides answers.
  enum Event {
    case push(Arrival)
    case recall(String)
    case goAway
    case other
  }

  /// The next frame.
  func event() throws -> Event {
    switch try next() {
    case .push(let view):
      .push(
        Arrival(
          id: view.messageID.text, isOffline: view.isOffline,
          content: try parseJSON(Array(bytes[view.content]))))
    case .recall(let id): .recall(id.text)
    case .goAway: .goAway
    default: .other
    }
  }

  /// Says that a push arrived.
  func acknowledge(_ arrival: Arrival) throws {
    guard let id = MessageID(decimal: Array(arrival.id.utf8)) else { throw Unexpected() }
    var output: [UInt8] = []
    ClientFrame.encodeAcknowledge([id], into: &output)
    try socket.send(output)
  }

  /// Says what became of a push.
  func report(_ kind: ReceiptKind, of arrival: Arrival) throws {
    guard let id = MessageID(decimal: Array(arrival.id.utf8)) else { throw Unexpected() }
    var output: [UInt8] = []
    ClientFrame.encodeReceipt([Receipt(kind, id)], into: &output)
    try socket.send(output)
  }

  /// Whether the server has closed, after what was read so far.
  func isClosed() throws -> Bool { try socket.receive().isEmpty }
}
