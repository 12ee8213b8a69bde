import Glibc

/// Borealis as a system under test: devices over its own protocol, pushes over HTTP.
final class BorealisSystem: SystemUnderTest {
  let borealis: BorealisServer
  let devices: DeviceDriver
  let sender: PushSender
  private let senders: Int

  /// The number of HTTP connections for pushes.
  init(
    _ borealis: BorealisServer, receivers: Int, senders: Int, tls: TLSClient? = nil
  ) {
    self.borealis = borealis
    self.senders = senders
    sender = PushSender(appKey: borealis.appKey, secret: borealis.secret)
    devices = DeviceDriver(receivers: receivers, appKey: borealis.appKey, sender: sender)
    super.init(
      name: Report.own, server: borealis.process,
      endpoint: tls == nil ? borealis.devicePlain : borealis.device, driver: devices, tls: tls)
  }

  /// Starts the server again, after it has ended, on the same ports.
  func restart() throws(BenchError) {
    try borealis.restart()
    server = borealis.process
  }

  override func connectSender(_ client: LoadClient) throws(BenchError) {
    try sender.connect(senders, to: borealis.http, client)
  }

  override func problem() -> String? {
    if let refusal = sender.firstRefusal { return "\(sender.refusedCount) pushes were refused: \(refusal)" }
    if sender.lostCount > 0 { return "HTTP connections were closed" }
    guard let general = super.problem() else { return nil }
    return general + (devices.lastWord.map { ": " + $0 } ?? "")
  }
}
