import CLinux
import Glibc
import PushNet

/// A socket on its way to a server and, in the end, connected to it, with TLS if that is wanted. Never blocks; belongs
/// to one loop's thread.
final class DeviceConnection {
  /// What becomes of a connection that is being made.
  enum Progress: Equatable {
    case underWay
    case open
    case failed(String)
  }

  /// What a read came to.
  enum Reading: Equatable {
    case bytes(Int)
    /// Nothing is there now.
    case nothing
    case ended(String)
  }

  private enum Stage { case connecting, handshaking, open }

  /// What TLS needs, nil for none: the peer's name and what an earlier connection has left for resumption.
  struct Protection {
    let context: TLSContext
    let peerName: String
    let session: [UInt8]?
  }

  let descriptor: Int32
  private let protection: Protection?
  private var session: TLSSession?
  private var stage = Stage.connecting
  private var output: [UInt8] = []
  private var sent = 0
  private var handshakeWantsWrite = false
  /// Whether the app has fallen behind: nothing is read then.
  var isPaused = false

  /// Starts to connect to a numeric address. Throws when the system refuses at once.
  init(address: String, port: UInt16, protection: Protection?) throws(SystemError) {
    descriptor = try SystemError.check(cl_connect(address, port), "connect")
    self.protection = protection
  }

  deinit { _ = cl_close(descriptor) }

  /// Whether bytes can flow.
  var isOpen: Bool { stage == .open }

  /// What the loop is to watch for.
  var interest: Readiness {
    switch stage {
    case .connecting: .writable
    case .handshaking: handshakeWantsWrite ? .writable : .readable
    case .open: (isPaused ? [] : Readiness.readable).union(hasOutput ? .writable : [])
    }
  }

  private var hasOutput: Bool { sent < output.count }

  /// Goes on after the socket became ready.
  func proceed() -> Progress {
    if stage == .connecting {
      let number = cl_socket_error(descriptor)
      guard number == 0 else { return .failed(Self.reason(number)) }
      guard let protection else {
        stage = .open
        return .open
      }
      do throws(TLSError) {
        session = try TLSSession(
          context: protection.context, fd: descriptor, peerName: protection.peerName,
          resuming: protection.session)
      } catch {
        return .failed(error.description)
      }
      stage = .handshaking
    }
    guard stage == .handshaking, let session else { return .open }
    switch session.handshake() {
    case .done:
      stage = .open
      return .open
    case .wantRead: handshakeWantsWrite = false
    case .wantWrite: handshakeWantsWrite = true
    case .failed(let reason): return .failed("TLS: " + reason)
    }
    return .underWay
  }

  /// Reads what has come, up to the size of the buffer.
  func read(into buffer: inout [UInt8]) -> Reading {
    guard let session else {
      let count = buffer.withUnsafeMutableBytes { cl_read(descriptor, $0.baseAddress, $0.count) }
      if count > 0 { return .bytes(count) }
      if count == 0 { return .ended("the server closed") }
      return count == -Int(EAGAIN) || count == -Int(EINTR) ? .nothing : .ended(Self.reason(Int32(-count)))
    }
    switch buffer.withUnsafeMutableBytes({ session.read(into: $0) }) {
    case .bytes(let count): return .bytes(count)
    case .wantRead, .wantWrite: return .nothing
    case .closed: return .ended("the server closed")
    case .failed(let reason): return .ended(reason)
    }
  }

  /// Whether `read` has bytes that the loop does not know of.
  var hasDecrypted: Bool { session.map { $0.pending > 0 } ?? false }

  /// Takes bytes to be sent by the next `flush`.
  func queue(_ bytes: [UInt8]) { output.append(contentsOf: bytes) }

  /// Sends as much as the socket takes. A broken connection shows itself when it is read.
  func flush() {
    while hasOutput {
      let outcome = send()
      guard case .sent(let count) = outcome else { break }
      sent += count
    }
    if !hasOutput {
      output.removeAll(keepingCapacity: false)
      sent = 0
    }
  }

  private func send() -> SendOutcome {
    guard let session else { return Socket.send(descriptor, output, from: sent) }
    let transfer = output.withUnsafeBytes { session.write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
    return if case .bytes(let count) = transfer { .sent(count) } else { .wouldBlock }
  }

  /// Sends what the socket still takes, says goodbye, and gives what the next connection may resume.
  func finish() -> [UInt8]? {
    guard stage == .open else { return nil }
    flush()
    guard let session else { return nil }
    session.shutdown()
    return session.exportSession()
  }

  private static func reason(_ number: Int32) -> String {
    SystemError(call: "", number: number).description
  }
}
