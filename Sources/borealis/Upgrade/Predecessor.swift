import BorealisBase
import BorealisNet
import Glibc
import Synchronization

/// The server whose place this process is to take. Before `takeOver` has returned, nothing is sent to anybody
/// else, and no connection is read: until then the server may go on.
final class Predecessor: Sendable {
  /// The variable with the number of the socket, for a process that a server starts.
  static let variable = "UPGRADE_SOCKET"
  /// Nanoseconds for what the server says at once, and until it has let its requests finish.
  private static let (offerPatience, sessionPatience): (UInt64, UInt64) = (10_000_000_000, 120_000_000_000)
  /// Nanoseconds for the server to see that all is ready.
  private static let lastPatience: UInt64 = 60_000_000_000

  private struct State: Sendable {
    var listeners: [Listeners] = []
    var commandSocket: Int32?
    var loops: [PassedLoop] = []
    var unreadSince: UInt64 = 0
    var rejected = 0
  }

  private let link: UpgradeLink
  private let state = Mutex(State())
  private let time = SystemTime()

  private init(_ link: UpgradeLink) { self.link = link }

  /// The server that has started this process to take its place, if one has.
  static func find() throws(Failure) -> Predecessor? {
    guard let value = SmallFiles.variable(variable) else { return nil }
    unsetenv(variable)
    guard let socket = Int32(value), socket > STDERR_FILENO else {
      throw .usage("\(variable) is not the number of a socket")
    }
    let link = UpgradeLink(socket)
    guard link.peer == getppid(), link.peer > 0 else {
      throw .usage("\(variable) is not the number of a socket of the server that has started this process")
    }
    return Predecessor(link)
  }

  // MARK: Before the server rests

  /// Accepts the server's locks and listening sockets, if a server with these settings can replace it.
  func acceptOffer(_ settings: ServeSettings) throws(Failure) -> FolderLocks {
    let frame = try next(within: Self.offerPatience)
    guard frame.kind == .offer, let offer = UpgradeOffer(frame.content) else { throw unexpected }
    if let obstacle = offer.obstacle(settings) { throw .failed(obstacle) }
    guard frame.descriptors.count == (offer.acceptsCommands ? 3 : 2) else { throw unexpected }
    var all: [Listeners] = []
    for (name, address) in offer.addresses {
      let frame = try next(within: Self.offerPatience)
      guard frame.kind == .listeners, frame.descriptors.count == offer.loops else { throw unexpected }
      all.append(Listeners(name: name, listening: address, descriptors: frame.descriptors))
    }
    let locks = FolderLocks(folder: frame.descriptors[0], database: frame.descriptors[1])
    try settings.folder.adopt(locks, reading: settings.secretKeyFile)
    try settings.folder.expectSchema()
    state.withLock { [all] state in
      state.listeners = all
      state.commandSocket = offer.acceptsCommands ? frame.descriptors[2] : nil
      state.loops = Array(repeating: PassedLoop(), count: offer.loops)
    }
    return locks
  }

  /// The listening sockets, in the order of the settings.
  var listeners: [Listeners] { state.withLock { $0.listeners } }

  /// Where commands come in; nil if the server had no such socket.
  var commandSocket: Int32? { state.withLock { $0.commandSocket } }

  /// Says that this process could begin at once, and waits until the server has stored everything and has
  /// passed its connections on.
  func awaitSessions() throws(Failure) {
    try say(.prepared, Program.version)
    UpgradeStep.newPrepared.reach()
    while true {
      var frame = try next(within: Self.sessionPatience)
      defer { frame.content.wipe() }
      switch frame.kind {
      case .devices, .requests:
        guard state.withLock({ PassedLoop.add(frame, to: &$0.loops) }) else { throw unexpected }
      case .complete:
        var reader = ByteReader(frame.content)
        guard let moment = reader.read(UInt64.self) else { throw unexpected }
        state.withLock { $0.unreadSince = moment }
        return
      default: throw unexpected
      }
    }
  }

  // MARK: While it rests

  /// Removes and returns what was passed on to a loop.
  func popLoop(_ index: Int) -> PassedLoop {
    state.withLock { state in
      var taken = PassedLoop()
      if index < state.loops.count { swap(&taken, &state.loops[index]) }
      return taken
    }
  }

  /// Notes how many devices of a loop cannot be taken over.
  func note(rejected count: Int) { state.withLock { $0.rejected += count } }

  /// Since when nobody has looked at sockets, on the clock that counts suspension.
  var unreadSince: UInt64 { state.withLock { $0.unreadSince } }

  /// Says that all is read and waits for the server to give its place away. Returns whether the server is
  /// there: if it has been killed meanwhile, this process has everything, and nobody else has. A server
  /// that goes on ends this process before it closes the socket.
  func takeOver() throws(Failure) -> Bool {
    let deadline = time.monotonic() &+ Self.lastPatience
    UpgradeStep.newRead.reach()
    var writer = ByteWriter()
    writer.write(UInt32(clamping: state.withLock { $0.rejected }))
    // If it is gone, the next frame tells.
    try? link.send(.ready, writer.bytes, until: deadline)
    UpgradeStep.newReady.reach()
    do throws(UpgradeLink.Fault) {
      guard try link.receive(until: deadline).kind == .go else { throw UpgradeLink.Fault.unreadable }
      return true
    } catch {
      switch error {
      case .gone: return false
      case .late: throw .failed("the server does not give its place away")
      case .unreadable, .tooLarge, .interrupted: throw unexpected
      }
    }
  }

  /// Says that devices and requests are served.
  func noteServing() { try? link.send(.serving, until: time.monotonic() &+ Self.offerPatience) }

  /// Says why this process cannot take the place.
  func refuse(_ reason: String) {
    try? link.send(.refused, Array(reason.utf8), until: time.monotonic() &+ Self.offerPatience)
  }

  private func say(_ kind: UpgradeLink.Kind, _ text: String = "") throws(Failure) {
    do throws(UpgradeLink.Fault) {
      try link.send(kind, Array(text.utf8), until: time.monotonic() &+ Self.offerPatience)
    } catch {
      throw gone
    }
  }

  private func next(within patience: UInt64) throws(Failure) -> UpgradeLink.Frame {
    do throws(UpgradeLink.Fault) {
      return try link.receive(until: time.monotonic() &+ patience)
    } catch {
      throw error == .unreadable ? unexpected : gone
    }
  }

  private var gone: Failure {
    .failed("the server whose place this process was to take has ended, or says nothing")
  }
  private var unexpected: Failure { .failed("the server says something that this version does not expect") }
}
