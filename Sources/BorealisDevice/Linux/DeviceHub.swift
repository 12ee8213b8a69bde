import BorealisBase
import BorealisNet

/// Runs any number of devices on one thread, which stops when the hub and all its devices are released.
public final class DeviceHub: Sendable {
  /// The thread's loop and its mailbox.
  private struct Thread: Sendable {
    let handle: LoopHandle
    let mail: Mailbox<EventLoopDriver.Message>
  }

  private let security: TransportSecurity
  private let thread = DeviceLock<Thread?>(nil)
  private let keys = DeviceLock<UInt32>(0)

  /// Only keeps the value: `open` does the rest.
  public init(security: TransportSecurity) { self.security = security }

  deinit { thread.withLock { $0 }?.handle.post { $0.stop() } }

  /// Starts the thread, unless it runs. The first `start` of a device does the same.
  public func open() throws(DeviceSetUpError) {
    try thread.withLock { thread throws(DeviceSetUpError) in
      if thread == nil { thread = try Self.makeThread(security) }
    }
  }

  /// A number for a new device.
  func makeKey() -> UInt32 {
    keys.withLock { key in
      defer { key &+= 1 }
      return key
    }
  }

  /// Passes a message on. Before `open` it is dropped.
  func post(_ message: HubMessage) { thread.withLock { $0?.mail }?.post(.device(message)) }

  private static func makeThread(_ security: TransportSecurity) throws(DeviceSetUpError) -> Thread {
    let tls = try context(security)
    do throws(SystemError) {
      let handle = try LoopHandle(index: 0)
      let mail = Mailbox<EventLoopDriver.Message>(of: handle)
      try run(handle) { loop in _ = EventLoopDriver(loop, mail: mail, tls: tls) }
      return Thread(handle: handle, mail: mail)
    } catch {
      throw .system(error.description)
    }
  }

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
    let failure = DeviceLock<SystemError?>(nil)
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
