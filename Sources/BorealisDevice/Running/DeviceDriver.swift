import BorealisBase
import BorealisProtocol

/// Messages of threads to the thread of a hub. Devices are named by the hub's keys.
enum HubMessage: Sendable {
  case add(UInt32, DeviceRunner.Parts)
  case start(UInt32)
  case stop(UInt32)
  case networkChanged(UInt32)
  case submit(UInt32, Operation, DeviceRunner.Completion)
  case handled(UInt32, MessageID)
  case report(UInt32, Receipt)
  case setFacts(UInt32, [DeviceFact: String])
  case rotateKey(UInt32, DeviceRunner.Completion)
  /// Ends a device; the closure runs when its socket is closed.
  case close(UInt32, @Sendable () -> Void)
}

/// What drives all devices of a hub, on the hub's thread: clocks, deadlines and connections.
protocol DeviceDriver: AnyObject {
  /// The devices by their keys.
  var runners: [UInt32: DeviceRunner] { get set }
  /// Milliseconds on a clock that does not count time in which the process was stopped or the device slept.
  var now: UInt64 { get }
  /// Milliseconds on one that counts it.
  var steady: UInt64 { get }
  /// Unix seconds.
  var wall: Int64 { get }

  /// Calls the device's `deadlineReached` then, or earlier.
  func schedule(_ runner: DeviceRunner, _ deadline: UInt64?)

  /// Makes what connects a device.
  func makeLink(for runner: DeviceRunner) -> any DeviceLink
}

extension DeviceDriver {
  func handle(_ message: HubMessage) {
    switch message {
    case .add(let key, let parts): runners[key] = DeviceRunner(key: key, parts: parts, driver: self)
    case .start(let key): runners[key]?.start()
    case .stop(let key): runners[key]?.stop()
    case .networkChanged(let key): runners[key]?.networkChanged()
    case .submit(let key, let operation, let completion):
      if let runner = runners[key] {
        runner.submit(operation, completion)
      } else {
        completion(OperationResult(sequence: 0, operation: operation, code: .stopped))
      }
    case .handled(let key, let id): runners[key]?.handled(id)
    case .rotateKey(let key, let completion):
      if let runner = runners[key] {
        runner.rotateKey(completion)
      } else {
        completion(OperationResult(sequence: 0, operation: .setKey(DeviceKey(.x25519, [])), code: .stopped))
      }
    case .report(let key, let receipt): runners[key]?.report(receipt)
    case .setFacts(let key, let facts): runners[key]?.setFacts(facts)
    case .close(let key, let done):
      runners.removeValue(forKey: key)?.close()
      done()
    }
  }
}
