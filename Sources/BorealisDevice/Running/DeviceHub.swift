import BorealisBase
import BorealisNet
import Synchronization

/// Runs any number of devices on one thread, which stops when the hub and all its devices are released.
public final class DeviceHub: Sendable {
  private let handle: LoopHandle
  private let mail: Mailbox<HubMessage>
  private let keys = Atomic<UInt32>(0)

  /// Starts the thread.
  public init(security: TransportSecurity) throws(DeviceSetUpError) {
    let tls = try Self.context(security)
    do throws(SystemError) {
      let handle = try LoopHandle(index: 0)
      let mail = Mailbox<HubMessage>(of: handle)
      self.handle = handle
      self.mail = mail
      try Self.run(handle) { loop in _ = DeviceDriver(loop, mail: mail, tls: tls) }
    } catch {
      throw .system(error.description)
    }
  }

  deinit { handle.post { $0.stop() } }

  /// A number for a new device.
  func makeKey() -> UInt32 { keys.add(1, ordering: .relaxed).oldValue }

  func post(_ message: HubMessage) { mail.post(message) }

  private static func context(_ security: TransportSecurity) throws(DeviceSetUpError) -> TLSContext? {
    do throws(TLSError) {
      return switch security {
      case .plain: nil
      case .tls(let caFile): try TLSContext.client(caFile: caFile)
      case .tlsUnverified: try TLSContext.client(verifies: false)
      }
    } catch {
      throw .tls(error.description)
    }
  }

  /// Waits until the loop exists, so that a failure is thrown here.
  private static func run(
    _ handle: LoopHandle, setUp: @escaping @Sendable (EventLoop) -> Void
  ) throws(SystemError) {
    let answered = Semaphore()
    let failure = Mutex<SystemError?>(nil)
    try handle.start(
      { loop in
        setUp(loop)
        answered.signal()
      },
      failed: { error in
        failure.withLock { $0 = error }
        answered.signal()
      })
    answered.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
