/// The address of one app on one device.
struct SimulatedDeviceToken: Hashable, Sendable {
  let bytes: [UInt8]

  /// Reads hexadecimal digits of either case: 64 of them, or with `anyLength` an even number from 64 to 200.
  init?(_ digits: some Collection<UInt8>, anyLength: Bool = false) {
    let count = digits.count
    guard count == 64 || anyLength && (64...200).contains(count) && count.isMultiple(of: 2) else {
      return nil
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count / 2)
    var high: UInt8?
    for byte in digits {
      guard let digit = NotificationID.digit(byte) else { return nil }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    self.bytes = bytes
  }
}
