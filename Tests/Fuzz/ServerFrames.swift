import BorealisBase
import BorealisProtocol

/// Frames from a server: what decodes must encode to the bytes it came from, and so must the payloads of
/// results.
@Sendable func fuzzServerFrames(_ bytes: [UInt8]) {
  forEachFrame(in: bytes) { type, body, whole in
    guard let frame = try? ServerFrame(type: type, body: body, in: bytes.span) else { return }
    var again: [UInt8] = []
    check(frame.encode(into: &again, views: bytes.span), "a decoded frame can be encoded")
    check(again[...] == bytes[whole], "encoding a decoded frame gives its bytes")
    switch frame {
    case .push(let push):
      let content = Array(bytes[push.content])
      let shared = ServerFrame.encodePush(
        messageID: push.messageID, offline: push.isOffline, content: content)
      check(shared == again, "a push is encoded alike on both ways")
    case .result(let sequence, let code, let payload):
      rewrite(sequence, code, payload, again)
    default: break
    }
  }
}

private func rewrite(_ sequence: UInt32, _ code: ResultCode, _ payload: [UInt8], _ frame: [UInt8]) {
  for operation: FrameType in [.getAlias, .getTags, .checkTag, .setAlias] {
    guard let read = try? ResultPayload(payload, answering: operation, code: code) else { continue }
    var again: [UInt8] = []
    let fits = ServerFrame.encodeResult(sequence: sequence, code: code, payload: read, into: &again)
    check(fits && again == frame, "a payload is written as it was read")
  }
}
