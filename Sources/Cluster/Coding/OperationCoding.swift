import BorealisBase
import Core
import Model

/// What a device reads or changes, and what became of it, as nodes tell it.
enum OperationCoding {
  private enum Kind: UInt8 {
    case clearAlias = 1
    case setAlias
    case setTags
    case editTags
    case cleanTags
    case readAlias
    case readTags
    case checkTag
    case setBadge
    case setToken
    case reportToken
    case setKey
    case readKey
    case setFacts
  }

  /// The bytes of an operation.
  static func encode(_ operation: DeviceOperation) -> [UInt8] {
    var writer = ByteWriter()
    func begin(_ kind: Kind) { writer.write(kind.rawValue) }
    switch operation {
    case .setAlias(nil): begin(.clearAlias)
    case .setAlias(let alias?):
      begin(.setAlias)
      writer.write(text: alias)
    case .changeTags(.set(let tags)):
      begin(.setTags)
      writer.write(texts: tags)
    case .changeTags(.edit(let add, let remove)):
      begin(.editTags)
      writer.write(texts: add)
      writer.write(texts: remove)
    case .changeTags(.clean): begin(.cleanTags)
    case .readAlias: begin(.readAlias)
    case .readTags: begin(.readTags)
    case .checkTag(let tag):
      begin(.checkTag)
      writer.write(text: tag)
    case .setBadge(let badge):
      begin(.setBadge)
      writer.write(badge)
    case .setToken(let token):
      begin(.setToken)
      write(token, &writer)
    case .reportToken(let told):
      begin(.reportToken)
      writer.write(texts: [told.channel, told.kind, told.name, told.service, told.token])
    case .setKey(let kind, let key):
      begin(.setKey)
      writer.write(kind.rawValue)
      writer.write(counted: key)
    case .readKey(let id):
      begin(.readKey)
      writer.write(id.rawValue)
    case .setFacts(let facts):
      begin(.setFacts)
      writer.write(UInt8(truncatingIfNeeded: facts.count))
      for (fact, value) in facts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        writer.write(fact.rawValue)
        writer.write(text: value)
      }
    }
    return writer.bytes
  }

  /// Reads an operation; nil if the bytes are none.
  static func decode(_ bytes: [UInt8]) -> DeviceOperation? {
    var reader = ByteReader(bytes)
    guard let kind = reader.read(UInt8.self).flatMap(Kind.init),
      let operation = read(kind, &reader),
      reader.isAtEnd
    else { return nil }
    return operation
  }

  private static func read(_ kind: Kind, _ reader: inout ByteReader) -> DeviceOperation? {
    switch kind {
    case .clearAlias: return .setAlias(nil)
    case .setAlias: return reader.text().map { .setAlias($0) }
    case .setTags: return reader.texts().map { .changeTags(.set($0)) }
    case .editTags:
      guard let add = reader.texts(), let remove = reader.texts() else { return nil }
      return .changeTags(.edit(add: add, remove: remove))
    case .cleanTags: return .changeTags(.clean)
    case .readAlias: return .readAlias
    case .readTags: return .readTags
    case .checkTag: return reader.text().map { .checkTag($0) }
    case .setBadge: return reader.read(Int64.self).map { .setBadge($0) }
    case .setToken: return token(&reader).map { .setToken($0) }
    case .reportToken:
      guard let texts = reader.texts(), texts.count == 5 else { return nil }
      return .reportToken(
        ReportedToken(
          channel: texts[0], kind: texts[1], name: texts[2], service: texts[3], token: texts[4]))
    case .setKey:
      guard let kind = reader.read(UInt8.self).flatMap(DeviceKeyKind.init),
        let key = reader.counted()
      else {
        return nil
      }
      return .setKey(kind, key)
    case .readKey: return reader.read(UInt64.self).map { .readKey(ContentKeyID($0)) }
    case .setFacts:
      var facts: [DeviceFact: String] = [:]
      guard let count = reader.read(UInt8.self) else { return nil }
      for _ in 0..<count {
        guard let number = reader.read(UInt8.self), let value = reader.text() else { return nil }
        // A later version may know more.
        if let fact = DeviceFact(rawValue: number) { facts[fact] = value }
      }
      return .setFacts(facts)
    }
  }

  private static func write(_ token: PushToken, _ writer: inout ByteWriter) {
    writer.write(token.slot.channel.rawValue)
    writer.write(token.slot.kind)
    writer.write(text: token.slot.name)
    writer.write(token.service.rawValue)
    writer.write(counted: token.bytes)
  }

  private static func token(_ reader: inout ByteReader) -> PushToken? {
    guard let channel = reader.read(UInt8.self).flatMap({ ChannelID(rawValue: $0) }),
      let kind = reader.read(UInt8.self), let name = reader.text(),
      let service = reader.read(UInt8.self),
      let bytes = reader.counted()
    else { return nil }
    return PushToken(
      TokenSlot(channel, kind: kind, name: name), ServiceID(rawValue: service), bytes)
  }

  // MARK: Results

  /// The bytes of a result.
  static func encode(_ result: OperationAnswer) -> [UInt8] {
    var writer = ByteWriter()
    switch result {
    case .done: writer.write(0 as UInt8)
    case .alias(nil): writer.write(1 as UInt8)
    case .alias(let alias?):
      writer.write(2 as UInt8)
      writer.write(text: alias)
    case .tags(let tags):
      writer.write(3 as UInt8)
      writer.write(texts: tags)
    case .hasTag(let hasTag): writer.write(hasTag ? 5 : 4 as UInt8)
    case .key(let sealed):
      writer.write(6 as UInt8)
      writer.write(counted: sealed)
    case .failed(let failure): writer.write(number(of: failure))
    }
    return writer.bytes
  }

  /// Reads a result; nil if the bytes are none.
  static func decodeResult(_ bytes: [UInt8]) -> OperationAnswer? {
    var reader = ByteReader(bytes)
    guard let kind = reader.read(UInt8.self) else { return nil }
    switch kind {
    case 0: return .done
    case 1: return .alias(nil)
    case 2: return reader.text().map { .alias($0) }
    case 3: return reader.texts().map { .tags($0) }
    case 4, 5: return .hasTag(kind == 5)
    case 6: return reader.counted().map { .key($0) }
    default: return failures.first { number(of: $0) == kind }.map { .failed($0) }
    }
  }

  private static let failures: [DeviceFailure] = [
    .aliasFull, .tooManyTags, .appTagsFull, .newTagsUsedUp, .unknownRegistration, .unknownKey,
    .invalidToken, .unavailable,
  ]

  private static func number(of failure: DeviceFailure) -> UInt8 {
    switch failure {
    case .aliasFull: 16
    case .tooManyTags: 17
    case .unknownRegistration: 18
    case .unknownKey: 19
    case .invalidToken: 20
    case .unavailable: 21
    case .appTagsFull: 22
    case .newTagsUsedUp: 23
    }
  }

  // MARK: Registrations

  /// The bytes of a device that wants a registration.
  static func encode(_ device: NewDevice) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(device.app.high)
    writer.write(device.app.low)
    writer.write(device.platform.rawValue)
    writer.write(counted: device.fingerprint)
    writer.write(text: device.appVersion)
    writer.write(UInt8(truncatingIfNeeded: device.tokens.count))
    for token in device.tokens { write(token, &writer) }
    return writer.bytes
  }

  /// Reads a device that wants a registration, at a connection; nil if the bytes are none.
  static func decodeDevice(_ bytes: [UInt8], at location: Location, askedAt: UInt64) -> NewDevice? {
    var reader = ByteReader(bytes)
    guard let high = reader.read(UInt64.self), let low = reader.read(UInt32.self),
      let platform = reader.read(UInt8.self).flatMap({ Platform(rawValue: $0) }),
      let fingerprint = reader.counted(), let version = reader.text(),
      let count = reader.read(UInt8.self)
    else { return nil }
    var tokens: [PushToken] = []
    for _ in 0..<count {
      guard let token = token(&reader) else { return nil }
      tokens.append(token)
    }
    guard reader.isAtEnd else { return nil }
    return NewDevice(
      app: AppKey(high: high, low: low), platform: platform, fingerprint: fingerprint,
      tokens: tokens,
      appVersion: version, location: location, askedAt: askedAt)
  }

  /// The bytes of the result of a registration.
  static func encode(_ result: RegisterResult) -> [UInt8] {
    var writer = ByteWriter()
    switch result {
    case .registered(let id, let secret):
      writer.write(0 as UInt8)
      writer.write(id.high)
      writer.write(id.low)
      writer.write(counted: secret)
    case .refused(let refusal): writer.write(UInt8(truncatingIfNeeded: number(of: refusal)))
    }
    return writer.bytes
  }

  /// Reads the result of a registration; nil if the bytes are none.
  static func decodeRegistered(_ bytes: [UInt8]) -> RegisterResult? {
    var reader = ByteReader(bytes)
    guard let kind = reader.read(UInt8.self) else { return nil }
    guard kind == 0 else { return refusal(UInt16(kind)).map { .refused($0) } }
    guard let high = reader.read(UInt64.self), let low = reader.read(UInt16.self),
      let secret = reader.counted()
    else { return nil }
    return .registered(RegistrationID(high: high, low: low), secret: secret)
  }

  /// The number of a refusal.
  static func number(of refusal: DeviceRefusal) -> UInt16 {
    switch refusal {
    case .unknownApp: 1
    case .appDisabled: 2
    case .notRegistered: 3
    case .unavailable: 4
    case .overtaken: 5
    }
  }

  /// The refusal of a number; nil for a number of a later version.
  static func refusal(_ number: UInt16) -> DeviceRefusal? {
    [.unknownApp, .appDisabled, .notRegistered, .unavailable, .overtaken].first {
      Self.number(of: $0) == number
    }
  }

  // MARK: Receipts and ends

  /// A bit that IDs of pushes do not have: with it a receipt is of an in-app message. A home of the version
  /// before, which would take that for the notification, knows no such push.
  private static let inAppBit: UInt64 = 1 << 60

  /// The bytes of receipts.
  static func encode(_ receipts: [DeviceReceipt]) -> [UInt8] {
    var writer = ByteWriter(capacity: 9 * receipts.count)
    for receipt in receipts {
      let kind = receipt.kind
      writer.write(receipt.id.rawValue | (kind.isOfInApp ? inAppBit : 0))
      writer.write(kind == .tapped || kind == .inAppTapped ? 1 : 0 as UInt8)
    }
    return writer.bytes
  }

  /// Reads receipts; nil if the bytes are none.
  static func decodeReceipts(_ bytes: [UInt8]) -> [DeviceReceipt]? {
    var reader = ByteReader(bytes)
    var receipts: [DeviceReceipt] = []
    while !reader.isAtEnd {
      guard let id = reader.read(UInt64.self), let tap = reader.read(UInt8.self) else { return nil }
      let isTap = tap == 1
      let isOfInApp = id & inAppBit != 0
      receipts.append(
        DeviceReceipt(
          id: MessageID(id & ~inAppBit),
          kind: isOfInApp ? isTap ? .inAppTapped : .inAppShown : isTap ? .tapped : .shown))
    }
    return receipts
  }

  /// The number of the reason for which a session is ended.
  static func number(of reason: EndReason) -> UInt8 {
    switch reason {
    case .loginAgain: 1
    case .replacedByLogin: 2
    case .registrationReplaced: 7
    case .appDisabled: 8
    }
  }

  /// The reason of a number. One of a later version sends the device away without consequences.
  static func reason(_ number: UInt8) -> EndReason {
    [.replacedByLogin, .registrationReplaced, .appDisabled].first { Self.number(of: $0) == number }
      ?? .loginAgain
  }
}
