import BorealisBase
import BorealisProtocol
import CLinux

/// Devices of Borealis: they register once, log in, count pushes and acknowledge them as the device library
/// does.
final class BorealisDriver: PubSubDriver {
  private struct Credentials {
    /// Which of the apps it belongs to.
    var app = 0
    let id: RegistrationID
    let secret: DeviceSecret
  }

  private(set) var readyCount = 0
  private(set) var lostCount = 0
  var board: ArrivalBoard
  let heartbeat: [UInt8] = [1, FrameType.ping.rawValue]
  /// What the server said last when it ended a connection.
  private(set) var lastWord: String?
  /// How many devices the server knows.
  private(set) var registeredCount = 0

  private let appKeys: [AppKey]
  private let sender: LoadSender
  /// The only device that is sent to; nil for all of them.
  private var target: Int?
  private var credentials: [Credentials?]
  /// Pushes of each device that wait for their acknowledgement.
  private var unacknowledged: [[MessageID]]
  /// Devices with such pushes, in the order of their deadlines.
  private var due: [(time: UInt64, link: Link)] = []
  private var nextDue = 0
  private var ackDelay: UInt64 = 0
  /// Told which device has logged in, and which has lost its connection.
  var onReady: ((_ member: Int) -> Void)?
  var onClosed: ((_ member: Int) -> Void)?
  /// Whether a device acknowledges what it has read at once, instead of gathering as long as it may.
  var acknowledgesAtOnce = false

  /// Devices of one app.
  convenience init(receivers: Int, appKey: AppKey, sender: LoadSender) {
    self.init(receivers: receivers, appKeys: [appKey], sender: sender)
  }

  /// Devices of the apps that a sender posts for; those that register do so in the first of them.
  init(receivers: Int, appKeys: [AppKey], sender: LoadSender) {
    board = ArrivalBoard(receivers: receivers)
    credentials = [Credentials?](repeating: nil, count: receivers)
    unacknowledged = [[MessageID]](repeating: [], count: receivers)
    self.appKeys = appKeys
    self.sender = sender
  }

  /// The registration ID of a device, nil before it has registered.
  func registration(of member: Int) -> RegistrationID? { credentials[member]?.id }

  /// Gives a device a registration that is in the database already.
  func adopt(_ member: Int, _ id: RegistrationID, _ secret: DeviceSecret, app: Int = 0) {
    credentials[member] = Credentials(app: app, id: id, secret: secret)
  }

  /// The bytes of a request for a push to each of the devices.
  func requests(_ payload: [UInt8]) -> [[UInt8]] {
    credentials.compactMap { device in
      device.map { sender.request(to: LoadSender.audience(registration: $0.id), payload, app: $0.app) }
    }
  }

  /// Whether devices have pushes that they have not acknowledged yet.
  var owesAcknowledgements: Bool { nextDue < due.count }

  /// Clears the counter of ended connections: the benchmark has stopped the server itself.
  func forgiveLosses() { lostCount = 0 }

  /// Sends to one device only from now on.
  func aim(at member: Int) { target = member }

  /// Sends to all devices of each app, or to the one that is aimed at.
  func broadcast(_ payload: [UInt8], _ client: LoadClient) {
    guard let target else {
      for app in appKeys.indices { sender.push(to: LoadSender.all, payload, app: app, client) }
      return
    }
    guard let device = credentials[target] else { return }
    sender.push(to: LoadSender.audience(registration: device.id), payload, app: device.app, client)
  }

  func opened(_ link: Link, _ client: LoadClient) {
    var bytes: [UInt8] = []
    ClientFrame.hello(Hello(clientName: "bench")).encode(into: &bytes)
    // Another session's pushes are not this one's to acknowledge.
    unacknowledged[link.member].removeAll()
    if credentials[link.member] == nil {
      let request = RegisterRequest(
        appKey: appKeys[0], platform: .android, fingerprint: SystemRandom.bytes(16), appVersion: "1")
      ClientFrame.register(request).encode(into: &bytes)
    } else {
      logIn(link.member, into: &bytes)
    }
    client.send(link, bytes)
  }

  private func logIn(_ member: Int, into bytes: inout [UInt8]) {
    guard let own = credentials[member] else { return }
    let request = LoginRequest(
      appKey: appKeys[own.app], registrationID: own.id, secret: own.secret, heartbeat: 60,
      appState: .background)
    ClientFrame.login(request).encode(into: &bytes)
  }

  func received(_ link: Link, _ bytes: Span<UInt8>, _ client: LoadClient) -> Int {
    var used = 0
    while case .frame(let type, let body, let end) = scanFrame(bytes, at: used, limit: WireLimits.maxFrame) {
      guard let frame = try? ServerFrame(type: type, body: body, in: bytes) else {
        lastWord = "a frame that cannot be read"
        return bytes.count
      }
      handle(frame, link, bytes, client)
      used = end
    }
    if acknowledgesAtOnce { acknowledge(link, client) }
    return used
  }

  private func acknowledge(_ link: Link, _ client: LoadClient) {
    var bytes: [UInt8] = []
    ClientFrame.encodeAcknowledge(unacknowledged[link.member], into: &bytes)
    unacknowledged[link.member].removeAll(keepingCapacity: true)
    if !bytes.isEmpty { client.send(link, bytes) }
  }

  private func handle(_ frame: ServerFrame, _ link: Link, _ bytes: Span<UInt8>, _ client: LoadClient) {
    switch frame {
    case .push(let push):
      board.arrived(at: link.member, bytes, push.content)
      if !acknowledgesAtOnce, unacknowledged[link.member].isEmpty {
        due.append((cl_monotonic_ns() + ackDelay, link))
      }
      unacknowledged[link.member].append(push.messageID)
    case .registerOK(let id, let secret):
      credentials[link.member] = Credentials(id: id, secret: secret)
      registeredCount += 1
      var reply: [UInt8] = []
      logIn(link.member, into: &reply)
      client.send(link, reply)
    case .loginOK(_, let delay, _, _):
      ackDelay = UInt64(delay) * 1_000_000
      readyCount += 1
      onReady?(link.member)
    case .goAway(let reason, _, _): lastWord = "GO_AWAY \(reason.rawValue)"
    case .error(let code, _, let message): lastWord = "ERROR \(code.rawValue) \(message)"
    default: break
    }
  }

  func closed(_ link: Link, _ client: LoadClient) {
    lostCount += 1
    onClosed?(link.member)
  }

  func turn(_ now: UInt64, _ client: LoadClient) -> UInt64? {
    while nextDue < due.count, due[nextDue].time <= now {
      let link = due[nextDue].link
      nextDue += 1
      acknowledge(link, client)
    }
    guard nextDue < due.count else {
      due.removeAll(keepingCapacity: true)
      nextDue = 0
      return nil
    }
    if nextDue > 100_000 {
      due.removeFirst(nextDue)
      nextDue = 0
    }
    return due[nextDue].time
  }
}
