import BorealisBase
import BorealisProtocol
import HTTP
import Model

/// The bytes read from a connection while its session parses them. It owns the bytes, so that nothing is
/// copied.
struct DeviceInput {
  /// The received bytes; WebSocket frames are unmasked in place.
  fileprivate(set) var bytes: [UInt8]
  fileprivate var position = 0
  fileprivate let end: Int
  /// The range of unparsed frames.
  fileprivate var frames = 0..<0
  /// The earlier bytes of an incomplete frame, with the new ones.
  fileprivate var joined: [UInt8]?
  /// Whether the WebSocket message ends after `frames`.
  fileprivate var endsMessage = false

  /// The first `count` of some bytes.
  init(_ bytes: consuming [UInt8], count: Int) {
    self.bytes = bytes
    end = count
  }

  /// The bytes that the lists of the last step refer to.
  var source: [UInt8] { joined ?? bytes }
}

/// Parses bytes in pieces of any size, plain or in WebSocket messages.
///
/// Complete frames are read in place; each byte of an incomplete frame is copied once, however small its
/// pieces are.
extension DeviceSession {
  /// The times for processing input, on the loop's clock.
  struct Moment {
    /// The current second, rounded up.
    let second: UInt32
    /// The second at which a frame that begins now is overdue.
    let frameEnd: UInt32
  }

  /// Bytes that a peer may send after the end of its session and before its own end.
  private static var mostSkipped: Int { 256 << 10 }

  /// Reads the next frame of the bytes read; nil when there is none. Call until then, or until the session
  /// ends.
  mutating func next(
    in input: inout DeviceInput, _ moment: Moment, now: @autoclosure () -> Timestamp
  ) -> SessionStep? {
    while true {
      if phase == .closing {
        input.frames = 0..<0
      } else if !input.frames.isEmpty, let step = nextFrame(in: &input, moment, now: now()) {
        return step
      }
      input.joined = nil
      if input.endsMessage {
        input.endsMessage = false
        if let step = endMessage(moment) { return step }
      }
      guard isWebSocket else {
        guard input.position < input.end, phase != .closing else { return nil }
        let piece = input.position..<input.end
        input.position = input.end
        open(piece, in: &input, moment)
        continue
      }
      switch unwrap(&input, moment) {
      case .step(let step): return step
      case .piece: continue
      case .nothing: return nil
      }
    }
  }

  /// Skips bytes that come after the end of the session; false if they are too many.
  mutating func skip(_ count: Int) -> Bool {
    let extras = extend()
    extras.skipped += count
    return extras.skipped <= Self.mostSkipped
  }

  // MARK: Frames

  private mutating func nextFrame(
    in input: inout DeviceInput, _ moment: Moment, now: @autoclosure () -> Timestamp
  ) -> SessionStep? {
    let source = input.source
    let range = input.frames
    switch scanFrame(
      source.span.extracting(0..<range.upperBound), at: range.lowerBound, limit: mostFrameBytes)
    {
    case .needMore:
      input.frames = 0..<0
      extend().hold(source, range, until: moment.frameEnd)
      return nil
    case .invalid:
      return malformed()
    case .frame(let type, let body, let end):
      input.frames = end..<range.upperBound
      if phase == .loggedIn { deadline = heartbeatDeadline(from: moment.second) }
      do throws(FrameError) {
        return handle(try ClientFrame(type: type, body: body, in: source.span), now: now())
      } catch {
        return malformed()
      }
    }
  }

  /// Starts with the bytes of a piece, after those of an incomplete frame.
  private mutating func open(_ piece: Range<Int>, in input: inout DeviceInput, _ moment: Moment) {
    guard let extras, !extras.partial.isEmpty else {
      input.frames = piece
      return
    }
    extras.hold(input.bytes, piece, until: moment.frameEnd)
    guard scanFrame(extras.partial.span, at: 0, limit: mostFrameBytes) != .needMore else { return }
    let joined = removePartial()
    input.frames = 0..<joined.count
    input.joined = joined
  }

  mutating func removePartial() -> [UInt8] {
    guard let extras else { return [] }
    var taken: [UInt8] = []
    swap(&taken, &extras.partial)
    shrink()
    return taken
  }

  /// Drops an incomplete frame.
  mutating func dropPartial() { _ = removePartial() }

  /// Whether there is an incomplete frame.
  var hasPartial: Bool { extras?.partial.isEmpty == false }

  /// The memory of an incomplete frame: the array's capacity and its approximate overhead.
  var partialCost: Int {
    guard let extras, !extras.partial.isEmpty else { return 0 }
    return extras.partial.capacity + 128
  }

  /// When the current frame or WebSocket message is overdue; nil between two, and after the end.
  var frameDeadline: UInt32? {
    guard let extras, phase != .closing else { return nil }
    let partial = extras.partial.isEmpty ? nil : extras.partialDeadline
    guard let message = extras.webSocket?.messageDeadline else { return partial }
    return min(partial ?? message, message)
  }

  // MARK: WebSocket

  private enum Unwrapped {
    case step(SessionStep)
    /// `frames` has more bytes, or is at an end of a message.
    case piece
    case nothing
  }

  /// The bytes of this session come in WebSocket messages from here on.
  mutating func startWebSocket(limit: Int) {
    form = .webSocket
    extend().webSocket = WebSocketState(reader: WebSocketReader(limit: limit))
  }

  private mutating func unwrap(_ input: inout DeviceInput, _ moment: Moment) -> Unwrapped {
    guard let extras, extras.webSocket?.isBroken == false else { return .nothing }
    do throws(WebSocketFault) {
      let event = try extras.webSocket?.reader.next(&input.bytes, &input.position, end: input.end)
      extras.webSocket?.noteMessage(until: moment.frameEnd)
      switch event {
      case .piece(let range, let endsMessage):
        if !range.isEmpty {
          extras.webSocket?.hasBytes = true
          if phase != .closing, isAutopush {
            guard extras.partial.count + range.count <= mostTextBytes else { return broken(.messageTooBig) }
            extras.hold(input.bytes, range, until: moment.frameEnd)
          } else if phase != .closing {
            open(range, in: &input, moment)
          }
        }
        input.endsMessage = endsMessage
        return .piece
      case .ping(let content):
        return phase == .closing ? .piece : .step(.sendControl(WebSocketFrame.pong(content)))
      case .pong:
        noteAlive(moment)
        return .piece
      case .close:
        extras.webSocket?.isClosed = true
        guard phase != .closing else { return .piece }
        return .step(.end(SessionFarewell(word: nil, end: .closedByPeer)))
      case nil: return .nothing
      }
    } catch {
      return broken(error.code)
    }
  }

  /// Nothing more can be read.
  private func broken(_ code: WebSocketCloseCode) -> Unwrapped {
    extras?.webSocket?.isBroken = true
    return phase == .closing ? .nothing : .step(.end(Self.fault(code)))
  }

  /// The end of a session whose bytes violate the protocol of WebSocket, or that of autopush.
  static func fault(_ code: WebSocketCloseCode) -> SessionFarewell {
    SessionFarewell(word: nil, end: .protocolError, code: code, isFault: true)
  }

  /// A message has complete frames, at least one; in the autopush protocol it is a request.
  private mutating func endMessage(_ moment: Moment) -> SessionStep? {
    let hasBytes = extras?.webSocket?.hasBytes ?? false
    extras?.webSocket?.hasBytes = false
    if isAutopush {
      let text = removePartial()
      return phase == .closing ? nil : handleAutopush(text, moment)
    }
    guard phase != .closing, !hasBytes || hasPartial else { return nil }
    return .end(refusal(.protocolError, .afterBackOff, "a message holds whole frames"))
  }

  /// The Close to send after the queue (RFC 6455 section 7.1.2); nil if there is none to send.
  mutating func closeFrame(_ code: WebSocketCloseCode) -> [UInt8]? {
    guard let extras, extras.webSocket?.hasSentClose == false else { return nil }
    extras.webSocket?.hasSentClose = true
    return WebSocketFrame.close(code)
  }

  /// Whether a session that has ended stays until the peer's Close or end, or its deadline, so that a reset
  /// does not destroy what was sent.
  var waitsForClose: Bool {
    guard let webSocket = extras?.webSocket else { return false }
    return webSocket.hasSentClose && !webSocket.isClosed
  }

  /// The peer's Close is not waited for.
  mutating func abandonClose() { extras?.webSocket?.isClosed = true }

  // MARK: Extras

  /// The extras, created if this session has none.
  mutating func extend() -> SessionExtras {
    if let extras { return extras }
    let new = SessionExtras()
    extras = new
    return new
  }

  /// Frees the extras if they are empty.
  mutating func shrink() { if extras?.isEmpty == true { extras = nil } }
}
