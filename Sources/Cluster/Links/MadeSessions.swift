import COpenSSL
import Glibc
import Synchronization

/// The TLS sessions that libnats makes on a thread and shows to nobody: OpenSSL tells of each session of the
/// process when it is made, on the thread that makes it, and before it is freed.
struct MadeSessions: Sendable {
  private static let sessions = Mutex<[pthread_t: Set<UInt>]>([:])
  private static let watchedThreads = Atomic<Int>(0)
  /// Whether the callbacks are registered with OpenSSL, from the first use on.
  private static let isRegistered =
    CRYPTO_get_ex_new_index(
      CRYPTO_EX_INDEX_SSL, 0, nil, { session, _, _, _, _, _ in MadeSessions.note(session) }, nil,
      { session, _, _, _, _, _ in MadeSessions.forget(session) }) >= 0

  private let thread: pthread_t

  /// Watches the thread that calls, until `end`.
  init() {
    let thread = pthread_self()
    self.thread = thread
    _ = Self.isRegistered
    Self.sessions.withLock { $0[thread] = [] }
    Self.watchedThreads.add(1, ordering: .relaxed)
  }

  /// Watches no more.
  func end() {
    // In this order: sessions that are freed are looked for as long as somebody may finish them.
    Self.sessions.withLock { $0[thread] = nil }
    Self.watchedThreads.subtract(1, ordering: .relaxed)
  }

  /// Lets every further read from the thread's sessions find their end. Any thread: whoever reads at this
  /// moment may not notice, and has to be told again.
  func finish() {
    Self.sessions.withLock { sessions in
      for session in sessions[thread] ?? [] {
        // It is not freed while the lock is held.
        if let session = OpaquePointer(bitPattern: session) { co_finish_reading(session) }
      }
    }
  }

  private static func note(_ session: UnsafeMutableRawPointer?) {
    guard watchedThreads.load(ordering: .relaxed) > 0 else { return }
    sessions.withLock { _ = $0[pthread_self()]?.insert(UInt(bitPattern: session)) }
  }

  private static func forget(_ session: UnsafeMutableRawPointer?) {
    guard watchedThreads.load(ordering: .relaxed) > 0 else { return }
    sessions.withLock { sessions in
      for thread in sessions.keys { sessions[thread]?.remove(UInt(bitPattern: session)) }
    }
  }
}
