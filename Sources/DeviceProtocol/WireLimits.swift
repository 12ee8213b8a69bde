/// Every limit of the device protocol.
public enum WireLimits {
  /// The protocol versions. Version 2 adds an operation: tokens for VoIP pushes and Live Activities.
  /// Version 3 adds acknowledgements that say how long ago each push arrived.
  /// Version 4 adds the keys of devices. Version 5 adds the tokens of all channels.
  /// Version 6 adds facts about devices. Version 7 adds receipts of in-app messages.
  public static let versions: ClosedRange<UInt8> = 1...7
  /// The bytes that HELLO starts with: `BRLS`.
  public static let magic: [UInt8] = [0x42, 0x52, 0x4C, 0x53]
  /// Most bytes of a length field.
  public static let maxLengthBytes = 3
  /// Most bytes of type and body together.
  public static let maxFrame = 65_536
  /// Most bytes of type and body of a client's frame before its LOGIN has succeeded.
  public static let maxFrameBeforeLogin = 1024
  /// Most bytes of a counted text or byte string: its count is one byte.
  public static let maxCounted = 255
  /// Bytes of a push frame's body before its content: message ID and flags.
  public static let pushHeader = 9
  /// Most bytes of a push's content.
  public static let maxPushContent = maxFrame - 1 - pushHeader
  /// How many message IDs an ACK holds.
  public static let acksPerFrame = 1...512
  /// How many receipts a RECEIPT holds.
  public static let receiptsPerFrame = 1...256
  /// How many bytes an install's fingerprint has.
  public static let fingerprintBytes = 1...64
  /// How many bytes an APNs token has; an empty one means none.
  public static let tokenBytes = 0...100
  /// How many bytes a token for VoIP pushes or Live Activities has; those of Live Activities are longer than
  /// others.
  public static let otherTokenBytes = 0...maxCounted
  /// Bytes after the point of a device's key.
  public static let keyAuthBytes = 16
  /// Bytes of a device secret.
  public static let secretBytes = 16
  /// Most tags in one operation; more are answered with `ResultCode.tooManyTags`, not refused by the codec.
  public static let tagsPerOperation = 1000
  /// Heartbeat intervals that a server grants by default, in seconds.
  public static let heartbeatSeconds: ClosedRange<UInt16> = 30...1800
  /// The heartbeat interval of a client that leaves it to the server, in seconds.
  public static let usualHeartbeatSeconds: UInt16 = 600
  /// Seconds from the first byte of a client's frame, or of its WebSocket message, to the last.
  public static let frameSeconds = 10
  /// Seconds from accepting a connection to a complete LOGIN.
  public static let loginSeconds = 5

  /// Seconds of silence after which the server gives a connection up: one and a half intervals, rounded up.
  public static func heartbeatDeadline(interval: UInt16) -> Int { (3 * Int(interval) + 1) / 2 }
}
