import BorealisBase
import CNATS
import Glibc
import Synchronization

/// An attempt to connect to servers of NATS, on a thread of its own, with a limit of time that libnats 3.4.1
/// has not: it waits for the rest of a TLS handshake for ever, and when the answer to its PING does not come
/// in time, it asks for it again and again without a pause and with a byte more of memory each time
/// (`_readProto` in its conn.c; a later version has mended that). Neither can be called off, but both end
/// when the socket does. So this one shuts down what this process has connected to those servers.
///
/// A TLS record between the handshake and that answer that OpenSSL cannot read, as only a damaged stream has,
/// is the same to libnats as an answer that does not come, and OpenSSL does not look at the socket again. So
/// each session that the attempt has made is told that its peer has ended it, which a read does notice.
final class NATSAttempt: Sendable {
  typealias Outcome = Result<NATSConnection, NATSConnection.Failure>

  private struct State {
    var peers: Set<SocketPeer> = []
    var sessions: MadeSessions?
    var outcome: Outcome?
    var deadline: UInt64
    var wasCut = false
  }

  /// Nanoseconds for a server: twice what libnats gives it for its greeting.
  static let patience: UInt64 = 4_000_000_000

  private let state: Mutex<State>

  /// Starts it. `ended` is called on its thread when there is an outcome.
  init(
    _ settings: BusSettings, name: String, subjects: [String], _ observer: NATSConnection.Observer,
    ended: @escaping @Sendable () -> Void
  ) throws(SystemThread.Failure) {
    state = Mutex(State(deadline: SystemTime().monotonic() + Self.patience))
    try SystemThread.start("bus connect") { [self] in
      // Names first: the same server may have several addresses.
      let peers = SocketPeer.all(of: settings.servers)
      let sessions = MadeSessions()
      state.withLock { ($0.peers, $0.sessions) = (peers, sessions) }
      let outcome: Outcome
      do throws(NATSConnection.Failure) {
        outcome = .success(try NATSConnection(settings, name: name, subjects: subjects, observer))
      } catch {
        outcome = .failure(error)
      }
      nats_ReleaseThreadMemory()
      state.withLock { ($0.outcome, $0.sessions) = (outcome, nil) }
      sessions.end()
      ended()
    }
  }

  /// What it means that it was cut off.
  static let unanswered = NATSConnection.Failure(text: "a server does not answer")

  /// What has come of it; nil while it is under way.
  var outcome: Outcome? {
    state.withLock { state in
      guard state.wasCut, case .failure = state.outcome else { return state.outcome }
      return .failure(Self.unanswered)
    }
  }

  /// When to look after it.
  var deadline: UInt64 { state.withLock { $0.deadline } }

  /// Cuts it off if it takes too long; true if it does so. If there are more servers, it goes on with the
  /// next one, which gets as much time.
  func look(at now: UInt64) -> Bool {
    guard now >= deadline else { return false }
    cut()
    return true
  }

  /// Cuts off what it waits for, if it is under way.
  func cut() {
    let (peers, sessions) = state.withLock { state -> (Set<SocketPeer>, MadeSessions?) in
      guard state.outcome == nil else { return ([], nil) }
      state.deadline = SystemTime().monotonic() + Self.patience
      state.wasCut = true
      return (state.peers, state.sessions)
    }
    SocketPeer.shutDown(peers)
    sessions?.finish()
  }
}
