import BorealisBase

extension ClientFrame {
  /// Decodes what `scanFrame` has found in `bytes`. PING, ACK, ACK_AGE and RECEIPT allocate nothing.
  public init(type: FrameType, body: Range<Int>, in bytes: Span<UInt8>) throws(FrameError) {
    var reader = try BodyReader(body, in: bytes)
    switch type {
    case .ping: self = .ping
    case .acknowledge: self = .acknowledge(try AckList(reader.readRest()))
    case .acknowledgeWithAges: self = .acknowledgeWithAges(try AgedAckList(reader.readRest()))
    case .receipt: self = .receipt(try ReceiptList(reader.readRest(), in: bytes))
    case .hello: self = .hello(try Hello(&reader, in: bytes))
    case .register: self = .register(try RegisterRequest(&reader, in: bytes))
    case .login: self = .login(try LoginRequest(&reader, in: bytes))
    default:
      guard Operation.isKnown(type) else { throw .unknownType }
      let sequence = try reader.integer(UInt32.self, in: bytes)
      self = .operation(sequence: sequence, try Operation(type, &reader, in: bytes))
    }
    try reader.finish()
  }
}

extension Hello {
  init(_ reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    // Compared byte by byte as bytes arrive, to detect a peer of another protocol early.
    for expected in WireLimits.magic {
      guard try reader.integer(UInt8.self, in: bytes) == expected else { throw .badMagic }
    }
    minVersion = try reader.integer(in: bytes)
    maxVersion = try reader.integer(in: bytes)
    guard minVersion > 0, minVersion <= maxVersion else { throw .invalidValue }
    clientName = try reader.text(in: bytes)
  }
}

extension RegisterRequest {
  init(_ reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    appKey = try reader.appKey(in: bytes)
    platform = try reader.value(in: bytes)
    fingerprint = try reader.counted(WireLimits.fingerprintBytes, in: bytes)
    token = try DeviceToken(&reader, in: bytes)
    appVersion = try reader.storableText(in: bytes)
  }
}

extension DeviceToken {
  init(_ reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    environment = try reader.value(in: bytes)
    self.bytes = try reader.counted(WireLimits.tokenBytes, in: bytes)
  }
}

extension OtherToken {
  init(_ reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    let kind = try reader.value(APNsTokenKind.self, in: bytes)
    let name = try reader.storableText(in: bytes)
    guard kind != .device, let slot = APNsTokenSlot(kind, name: name) else { throw .invalidValue }
    self.slot = slot
    token = DeviceToken(
      try reader.value(in: bytes), try reader.counted(WireLimits.otherTokenBytes, in: bytes))
  }
}

extension DeviceKey {
  init(_ reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    kind = try reader.value(in: bytes)
    self.bytes = try reader.counted(in: bytes)
    guard self.bytes.isEmpty || self.bytes.count == kind.pointSize + WireLimits.keyAuthBytes else {
      throw .invalidCount
    }
  }
}

extension ReportedToken {
  init(_ reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    self.init(
      channel: try reader.text(in: bytes), kind: try reader.text(in: bytes),
      name: try reader.storableText(in: bytes), service: try reader.text(in: bytes),
      token: try reader.longText(atMost: ReportedToken.maximumBytes, in: bytes))
  }
}

extension [DeviceFact: String] {
  init(_ reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    self = [:]
    let count = Int(try reader.integer(UInt8.self, in: bytes))
    guard count > 0 else { throw .invalidCount }
    var last: UInt8 = 0
    for _ in 0..<count {
      let fact = try reader.value(DeviceFact.self, in: bytes)
      guard fact.rawValue > last else { throw .invalidValue }
      last = fact.rawValue
      self[fact] = try reader.storableText(in: bytes)
    }
  }
}

extension LoginRequest {
  init(_ reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    appKey = try reader.appKey(in: bytes)
    registrationID = try reader.registrationID(in: bytes)
    secret = try reader.secret(in: bytes)
    heartbeat = try reader.integer(in: bytes)
    appState = try reader.value(in: bytes)
  }
}

extension Operation {
  static func isKnown(_ type: FrameType) -> Bool {
    (FrameType.setAlias.rawValue...FrameType.setFacts.rawValue).contains(type.rawValue)
  }

  init(_ type: FrameType, _ reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    switch type {
    case .setAlias: self = .setAlias(try reader.text(in: bytes))
    case .deleteAlias: self = .deleteAlias
    case .getAlias: self = .getAlias
    case .setTags: self = .setTags(try reader.texts(in: bytes))
    case .addTags: self = .addTags(try reader.texts(in: bytes))
    case .deleteTags: self = .deleteTags(try reader.texts(in: bytes))
    case .cleanTags: self = .cleanTags
    case .getTags: self = .getTags
    case .checkTag: self = .checkTag(try reader.text(in: bytes))
    case .setBadge: self = .setBadge(try reader.integer(in: bytes))
    case .setToken: self = .setToken(try DeviceToken(&reader, in: bytes))
    case .setOtherToken: self = .setOtherToken(try OtherToken(&reader, in: bytes))
    case .setKey: self = .setKey(try DeviceKey(&reader, in: bytes))
    case .getKey: self = .getKey(ContentKeyID(try reader.integer(in: bytes)))
    case .setChannelToken: self = .setChannelToken(try ReportedToken(&reader, in: bytes))
    case .setFacts: self = .setFacts(try [DeviceFact: String](&reader, in: bytes))
    case .appState: self = .appState(try reader.value(in: bytes))
    case .logout: self = .logout
    default: throw .unknownType
    }
  }
}
