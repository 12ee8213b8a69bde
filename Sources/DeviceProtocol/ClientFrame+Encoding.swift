import BorealisBase

extension ClientFrame {
  /// Appends the frame. `views` must be the span that an ACK, ACK_AGE or RECEIPT was decoded from; to write
  /// new ones, use `encodeAcknowledge` and `encodeReceipt`. Appends nothing and returns false when a text or
  /// list is too long for its count, the frame would be over `WireLimits.maxFrame`, or a view does not fit
  /// `views`. Rules with a result code (alias and tag lengths) are the caller's.
  @discardableResult
  public func encode(into output: inout [UInt8], views: Span<UInt8>) -> Bool {
    var writer = FrameWriter(type)
    switch self {
    case .ping: break
    case .acknowledge(let list): writer.copy(list.range, of: views)
    case .acknowledgeWithAges(let list): writer.copy(list.range, of: views)
    case .receipt(let list): writer.copy(list.range, of: views)
    case .hello(let hello):
      writer.bytes(WireLimits.magic)
      writer.integer(hello.minVersion)
      writer.integer(hello.maxVersion)
      writer.text(hello.clientName)
    case .register(let request):
      writer.appKey(request.appKey)
      writer.integer(request.platform.rawValue)
      writer.counted(request.fingerprint)
      writer.token(request.token)
      writer.text(request.appVersion)
    case .login(let request):
      writer.appKey(request.appKey)
      writer.registrationID(request.registrationID)
      writer.secret(request.secret)
      writer.integer(request.heartbeat)
      writer.integer(request.appState.rawValue)
    case .operation(let sequence, let operation):
      writer.integer(sequence)
      writer.operation(operation)
    }
    return writer.finish(into: &output)
  }

  /// Appends a frame other than ACK, ACK_AGE and RECEIPT; see `encode(into:views:)`.
  @discardableResult
  public func encode(into output: inout [UInt8]) -> Bool {
    encode(into: &output, views: Span())
  }

  /// Appends as many ACK frames as the IDs need: none for none, one for up to 512.
  public static func encodeAcknowledge(_ ids: [MessageID], into output: inout [UInt8]) {
    let most = WireLimits.acksPerFrame.upperBound
    for start in stride(from: 0, to: ids.count, by: most) {
      let part = ids[start..<min(start + most, ids.count)]
      output.appendLength(1 + 8 * part.count)
      output.append(FrameType.acknowledge.rawValue)
      for id in part { output.appendBigEndian(id.rawValue) }
    }
  }

  /// Appends as many ACK_AGE frames as the entries need: none for none, one for up to 512.
  public static func encodeAcknowledge(_ aged: [AgedAcknowledgement], into output: inout [UInt8]) {
    let most = WireLimits.acksPerFrame.upperBound
    for start in stride(from: 0, to: aged.count, by: most) {
      let part = aged[start..<min(start + most, aged.count)]
      output.appendLength(1 + AgedAckList.entryBytes * part.count)
      output.append(FrameType.acknowledgeWithAges.rawValue)
      for one in part {
        output.appendBigEndian(one.messageID.rawValue)
        output.appendBigEndian(one.age)
      }
    }
  }

  /// Appends as many RECEIPT frames as the entries need: none for none, one for up to 256.
  public static func encodeReceipt(_ receipts: [Receipt], into output: inout [UInt8]) {
    let most = WireLimits.receiptsPerFrame.upperBound
    for start in stride(from: 0, to: receipts.count, by: most) {
      let part = receipts[start..<min(start + most, receipts.count)]
      output.appendLength(1 + 9 * part.count)
      output.append(FrameType.receipt.rawValue)
      for receipt in part {
        output.append(receipt.kind.rawValue)
        output.appendBigEndian(receipt.messageID.rawValue)
      }
    }
  }

  /// The type of the frame.
  public var type: FrameType {
    switch self {
    case .ping: .ping
    case .hello: .hello
    case .register: .register
    case .login: .login
    case .acknowledge: .acknowledge
    case .acknowledgeWithAges: .acknowledgeWithAges
    case .receipt: .receipt
    case .operation(_, let operation): operation.type
    }
  }
}

extension FrameWriter {
  mutating func token(_ token: DeviceToken) {
    integer(token.environment.rawValue)
    counted(token.bytes)
  }

  mutating func operation(_ operation: Operation) {
    switch operation {
    case .deleteAlias, .getAlias, .cleanTags, .getTags, .logout: break
    case .setAlias(let value), .checkTag(let value): text(value)
    case .setTags(let tags), .addTags(let tags), .deleteTags(let tags): texts(tags)
    case .setBadge(let number): integer(number)
    case .setToken(let token): self.token(token)
    case .setOtherToken(let other):
      integer(other.slot.kind.rawValue)
      text(other.slot.name)
      token(other.token)
    case .setKey(let key):
      integer(key.kind.rawValue)
      counted(key.bytes)
    case .getKey(let id): integer(id.rawValue)
    case .setChannelToken(let told):
      for field in [told.channel, told.kind, told.name, told.service] { text(field) }
      longText(told.token, atMost: ReportedToken.maximumBytes)
    case .setFacts(let facts):
      integer(UInt8(truncatingIfNeeded: facts.count))
      for (fact, value) in facts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        integer(fact.rawValue)
        text(value)
      }
    case .appState(let state): integer(state.rawValue)
    }
  }
}
