import BorealisBase
import BorealisDevice
import BorealisProtocol
import CLinux
import Glibc
import Synchronization

/// The devices of one `borealis device`: prints their events and passes commands on to them.
final class DeviceFleet: Sendable {
  /// Nanoseconds that the end may take: a reader that does not read must not keep the program.
  private static let patience: UInt64 = 5_000_000_000

  private let devices: [Device]
  private let alias: String?
  private let tags: [String]
  private let output = Mutex(())
  /// How many devices still connect; when none is left, the program ends.
  private let active: Atomic<Int>
  private let failureText = Mutex<String?>(nil)
  /// Signalled by each device whose events have all been printed.
  private let printed = Semaphore()

  init(
    server: ServerAddress, profile: DeviceProfile, count: Int, store: DeviceStore, hub: DeviceHub,
    alias: String?,
    tags: [String]
  ) {
    var granted: UInt64 = 0
    _ = cl_set_nofile_limit(UInt64(count) + 64, &granted)
    devices = (0..<count).map { number in
      Device(server: server, profile: profile, store: store, number: UInt32(number), hub: hub)
    }
    self.alias = alias
    self.tags = tags
    active = Atomic(count)
  }

  /// Why the program ends before its time, if it does.
  var failure: String? { failureText.withLock { $0 } }

  func start() throws(DeviceSetUpError) {
    for (number, device) in devices.enumerated() {
      Task {
        await self.printEvents(of: device, number)
        self.printed.signal()
      }
      try device.start()
    }
  }

  /// Ends all devices, after what they have handled was acknowledged.
  func close() {
    let closed = Semaphore()
    Task {
      for device in devices { await device.close() }
      closed.signal()
    }
    _ = closed.wait(until: SystemTime().monotonic() &+ Self.patience)
    let end = SystemTime().monotonic() &+ Self.patience
    for _ in devices where !printed.wait(until: end) { return }
  }

  /// Lets the main thread end the program.
  func end(because failure: String? = nil) {
    failureText.withLock { $0 = $0 ?? failure }
    kill(getpid(), SIGTERM)
  }
}

// MARK: - Events
extension DeviceFleet {
  private func printEvents(of device: Device, _ number: Int) async {
    var wishes = wishes(of: number)
    for await event in device.events {
      // The line is out before the push counts as handled: see DeviceStore for why.
      guard write(line(number, device) { $0.describe(event) }) else {
        return end(because: "cannot write to standard output")
      }
      switch event {
      case .push(let push):
        device.handled(push.messageID)
        if push.isInApp { device.reportInAppShown(push.messageID) }
        if push.json?["notification"] != nil, !push.notificationWasShown {
          device.reportShown(push.messageID)
        }
      case .loggedIn:
        for wish in wishes { device.submit(wish) }
      case .operationResult(let result):
        // Without an answer it is tried again after the next login.
        if result.code != .timeout { wishes.removeAll { $0 == result.operation } }
      case .disconnected(let reason, retryIn: nil): stopped(reason)
      default: break
      }
    }
  }

  /// What the settings ask for.
  private func wishes(of number: Int) -> [BorealisProtocol.Operation] {
    let alias = alias.map { BorealisProtocol.Operation.setAlias($0.numbered(number)) }
    let tags = tags.isEmpty ? nil : BorealisProtocol.Operation.addTags(tags.map { $0.numbered(number) })
    return [alias, tags].compactMap { $0 }
  }

  /// A device that the server rejected does not reconnect by itself.
  private func stopped(_ reason: DisconnectReason) {
    switch reason {
    case .stopped, .goAway(.loggedOut): return
    default: break
    }
    if active.subtract(1, ordering: .relaxed).newValue == 0 {
      end(because: "the server asks this device not to reconnect: \(EventLine.text(reason))")
    }
  }

  private func line(_ number: Int, _ device: Device, _ describe: (inout EventLine) -> Void) -> [UInt8] {
    var line = EventLine(number: devices.count > 1 ? number : nil, registrationID: device.registrationID)
    describe(&line)
    return line.finish()
  }

  /// Writes a complete line; false if the output is closed.
  private func write(_ line: [UInt8]) -> Bool {
    output.withLock { _ in SystemCalls.writeAll(line, to: STDOUT_FILENO) }
  }
}

// MARK: - Commands
extension DeviceFleet {
  /// Carries a line of standard input out; empty ones are ignored.
  func handle(_ text: String) {
    guard !text.isEmpty else { return }
    do throws(DeviceInstruction.Fault) {
      let (target, instruction) = try DeviceInstruction.parse(text, count: devices.count)
      if instruction == .quit { return end() }
      let chosen = target.map { $0...$0 } ?? 0...devices.count - 1
      for number in chosen { carryOut(instruction, number) }
    } catch {
      var line = EventLine(number: nil, registrationID: nil)
      line.describeInvalid(text, expected: error.expected)
      _ = write(line.finish())
    }
  }

  private func carryOut(_ instruction: DeviceInstruction, _ number: Int) {
    let device = devices[number]
    switch instruction {
    case .operation(let operation): device.submit(operation)
    case .shown(let id): device.reportShown(id)
    case .tapped(let id): device.reportTapped(id)
    case .apns(let payload, let tapped): handleRemote(payload, tapped: tapped, number)
    case .rotateKey: rotateKey(of: device, number)
    // The state file is open since the first start.
    case .start: try? device.start()
    case .stop: device.stop()
    case .quit: return
    }
    // What the server does not answer is answered here.
    if let word = instruction.unansweredWord {
      _ = write(line(number, device) { $0.describeResult(of: word, code: .ok) })
    }
  }
}

extension DeviceFleet {
  private func rotateKey(of device: Device, _ number: Int) {
    Task {
      var code = ResultCode.ok
      do throws(DeviceOperationError) { try await device.rotateKey() } catch { code = error.code }
      _ = write(line(number, device) { [code] in $0.describeResult(of: "rotate-key", code: code) })
    }
  }
}

// MARK: - Notifications from Apple
extension DeviceFleet {
  private func handleRemote(_ payload: [UInt8], tapped: Bool, _ number: Int) {
    let device = devices[number]
    let notification = device.handleRemoteNotification(payload, tapped: tapped)
    _ = write(
      line(number, device) { line in
        if let notification {
          line.describe(notification)
        } else {
          line.describeInvalid("apns", expected: "a payload with _j_msgid")
        }
      })
  }
}

extension String {
  fileprivate func numbered(_ number: Int) -> String {
    split(separator: "{n}", omittingEmptySubsequences: false).joined(separator: "\(number)")
  }
}
