import CNghttp2

/// One HTTP/2 connection without its socket (RFC 9113): bytes in, events out, calls in, bytes out. nghttp2
/// does framing, HPACK, flow control and the states of streams.
///
/// It does no I/O and has no clock. It belongs to one thread. Its memory is bounded by the streams that may
/// be open, except for the answers to PING and SETTINGS: the socket's owner stops reading while much is
/// queued for sending.
package final class HTTP2Session {
  /// Which side of the connection this is.
  package enum Role: Sendable { case client, server }

  /// A body that is being sent, and its stream.
  struct Slot {
    var context: UInt32 = 0
    var body: [UInt8] = []
    var offset = 0
    /// Largest DATA frame.
    var chunk = Int.max
    /// See `endPosition(of:)`; 0 until the end was sent.
    var endPosition: UInt64 = 0
  }

  let role: Role
  let options: HTTP2Options
  private(set) var handle: OpaquePointer?
  @exclusivity(unchecked) var slots: [Slot] = []
  @exclusivity(unchecked) private var freeSlots: [Int] = []
  @exclusivity(unchecked) var events: [HTTP2Event] = []
  /// The block of fields that is being received.
  @exclusivity(unchecked) var incoming = HTTP2Headers()
  /// The last stream of our latest GOAWAY.
  var goAwaySent: Int32?
  private var isBroken = false
  private var scratch: [nghttp2_nv] = []
  /// Bytes returned so far, and during collection also those of the frame just finished.
  var position: UInt64 = 0

  /// Starts a session; the first outgoing bytes are the preface and SETTINGS.
  package init(role: Role, options: HTTP2Options = .init()) throws(HTTP2Error) {
    self.role = role
    self.options = options
    try start()
    try announce()
  }

  deinit { nghttp2_session_del(handle) }

  private func start() throws(HTTP2Error) {
    var callbacks: OpaquePointer?
    var settings: OpaquePointer?
    try Self.check(nghttp2_session_callbacks_new(&callbacks))
    defer { nghttp2_session_callbacks_del(callbacks) }
    try Self.check(nghttp2_option_new(&settings))
    defer { nghttp2_option_del(settings) }
    Self.setCallbacks(callbacks)
    nghttp2_option_set_peer_max_concurrent_streams(settings, options.assumedConcurrentStreams)
    nghttp2_option_set_no_closed_streams(settings, 1)
    // The session outlives nghttp2's, which never calls back after it was deleted.
    let context = Unmanaged.passUnretained(self).toOpaque()
    try Self.check(
      role == .client
        ? nghttp2_session_client_new2(&handle, callbacks, context, settings)
        : nghttp2_session_server_new2(&handle, callbacks, context, settings))
  }

  private func announce() throws(HTTP2Error) {
    let setting = { (id: nghttp2_settings_id, value: UInt32) in
      nghttp2_settings_entry(settings_id: Int32(bitPattern: id.rawValue), value: value)
    }
    var entries = [
      setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options.streamWindow),
      setting(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: options.headerListBytes)),
    ]
    switch role {
    case .client: entries.append(setting(NGHTTP2_SETTINGS_ENABLE_PUSH, 0))
    case .server:
      entries.append(setting(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options.maxConcurrentStreams))
    }
    try Self.check(nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count))
    try Self.check(
      nghttp2_session_set_local_window_size(
        handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(clamping: options.connectionWindow)))
  }

  static func check(_ status: Int32) throws(HTTP2Error) {
    if status < 0 { throw .refused(reason(status)) }
  }

  static func reason(_ status: Int32) -> String { String(cString: nghttp2_strerror(status)) }

  // MARK: Bytes

  /// Receives bytes from the peer. Throws when the connection is lost; bytes may still wait to be sent then.
  package func feed(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
    guard !isBroken else { throw .connection("the session failed before") }
    guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
    let taken = nghttp2_session_mem_recv(handle, start.assumingMemoryBound(to: UInt8.self), bytes.count)
    if taken < 0 {
      isBroken = true
      throw .connection(Self.reason(Int32(clamping: taken)))
    }
  }

  /// Receives bytes from the peer.
  package func feed(_ bytes: [UInt8]) throws(HTTP2Error) {
    try bytes.withUnsafeBufferPointer { bytes throws(HTTP2Error) in try feed(UnsafeRawBufferPointer(bytes)) }
  }

  /// Swaps the events since the last call with the contents of `list`, which are dropped, so that two arrays
  /// are reused.
  package func drainEvents(into list: inout [HTTP2Event]) {
    list.removeAll(keepingCapacity: true)
    swap(&list, &events)
  }

  /// Appends all bytes that are ready for the peer. Bytes that flow control holds back stay.
  package func drainOutgoing(into bytes: inout [UInt8]) throws(HTTP2Error) {
    guard !isBroken else { return }
    while true {
      var frame: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(handle, &frame)
      guard count >= 0 else {
        isBroken = true
        throw .connection(Self.reason(Int32(clamping: count)))
      }
      guard count > 0, let frame else { return }
      bytes.append(contentsOf: UnsafeBufferPointer(start: frame, count: count))
      position &+= UInt64(count)
    }
  }

  /// Whether the connection has ended: there is nothing to read or send.
  package var isFinished: Bool {
    isBroken || (nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0)
  }

  /// How many bytes `drainOutgoing` has returned so far.
  package var outgoingPosition: UInt64 { position }

  /// The position of a stream's last byte in the outgoing bytes, counted from the connection's start; nil
  /// until it was returned. A peer that got fewer bytes has not seen the complete request.
  package func endPosition(of streamID: Int32) -> UInt64? {
    guard let slot = slot(of: streamID), slots[slot].endPosition > 0 else { return nil }
    return slots[slot].endPosition
  }

  // MARK: Calls

  /// Sends a request. The stream's events carry `context`. Returns the stream's number.
  package func submitRequest(
    _ headers: HTTP2Headers, body: [UInt8], context: UInt32
  ) throws(HTTP2Error) -> Int32 {
    let slot = addSlot(Slot(context: context, body: body))
    var provider = Self.provider()
    let id = withFields(headers) { fields in
      body.isEmpty
        ? nghttp2_submit_request(handle, nil, fields.baseAddress, fields.count, nil, Self.pointer(slot))
        : nghttp2_submit_request(handle, nil, fields.baseAddress, fields.count, &provider, Self.pointer(slot))
    }
    guard id > 0 else {
      freeSlot(slot)
      throw .refused(Self.reason(id))
    }
    return id
  }

  /// Answers a request. The body leaves in DATA frames of at most `chunkBytes`.
  package func submitResponse(
    _ streamID: Int32, _ headers: HTTP2Headers, body: [UInt8] = [], chunkBytes: Int = .max
  ) throws(HTTP2Error) {
    guard let slot = slot(of: streamID) else { throw .refused("no such stream") }
    slots[slot].body = body
    slots[slot].offset = 0
    slots[slot].chunk = max(1, chunkBytes)
    var provider = Self.provider()
    try Self.check(
      withFields(headers) { fields in
        body.isEmpty
          ? nghttp2_submit_response(handle, streamID, fields.baseAddress, fields.count, nil)
          : nghttp2_submit_response(handle, streamID, fields.baseAddress, fields.count, &provider)
      })
  }

  /// Resets a stream.
  package func reset(_ streamID: Int32, _ code: HTTP2ErrorCode) throws(HTTP2Error) {
    try Self.check(
      nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), streamID, code.rawValue))
  }

  /// Sends a GOAWAY: no streams above `last` will be served, the highest received one if nil. 2^31-1
  /// announces that a GOAWAY with the real number follows (RFC 9113 section 6.8); it has no code and debug
  /// data, and the session continues.
  package func goAway(
    last: Int32? = nil, _ code: HTTP2ErrorCode = .noError, debug: [UInt8] = []
  ) throws(HTTP2Error) {
    let last = last ?? nghttp2_session_get_last_proc_stream_id(handle)
    guard last != .max else {
      // An ordinary GOAWAY would end the session with its last open stream.
      try Self.check(nghttp2_submit_shutdown_notice(handle))
      return
    }
    try Self.check(
      nghttp2_submit_goaway(
        handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code.rawValue, debug, debug.count))
    goAwaySent = last
  }

  /// Sends a PING; a `.pong` with the same number follows.
  package func ping(_ number: UInt64) throws(HTTP2Error) {
    let payload = withUnsafeBytes(of: number.bigEndian) { Array($0) }
    try Self.check(nghttp2_submit_ping(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), payload))
  }

  /// Limits the peer's open streams from now on; those that are open continue.
  package func setMaxConcurrentStreams(_ count: UInt32) throws(HTTP2Error) {
    let id = Int32(bitPattern: NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue)
    let entries = [nghttp2_settings_entry(settings_id: id, value: count)]
    try Self.check(nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count))
  }

  /// Whether a request may be submitted: false after a GOAWAY either way, or when the numbers of streams are
  /// used up.
  package var acceptsRequests: Bool { !isBroken && nghttp2_session_check_request_allowed(handle) != 0 }

  // MARK: Slots

  static func pointer(_ slot: Int) -> UnsafeMutableRawPointer? {
    UnsafeMutableRawPointer(bitPattern: slot + 1)
  }

  func addSlot(_ slot: Slot) -> Int {
    guard let index = freeSlots.popLast() else {
      slots.append(slot)
      return slots.count - 1
    }
    slots[index] = slot
    return index
  }

  func freeSlot(_ index: Int) {
    slots[index] = Slot()
    freeSlots.append(index)
  }

  func slot(of streamID: Int32) -> Int? {
    guard let pointer = nghttp2_session_get_stream_user_data(handle, streamID) else { return nil }
    return Int(bitPattern: pointer) - 1
  }

  func stream(_ id: Int32) -> HTTP2Stream {
    HTTP2Stream(id: id, context: slot(of: id).map { slots[$0].context } ?? 0)
  }

  // MARK: Fields

  /// nghttp2 copies the fields, so the pointers must be valid for the call only.
  private func withFields(
    _ headers: HTTP2Headers, _ body: (UnsafeBufferPointer<nghttp2_nv>) -> Int32
  ) -> Int32 {
    headers.bytes.withUnsafeBufferPointer { bytes in
      // An empty array may have no address; nghttp2 refuses a request without fields.
      let start = UnsafeMutablePointer(mutating: bytes.baseAddress)
      scratch.removeAll(keepingCapacity: true)
      for field in headers.fields {
        let flags = field.compression == .neverIndexed ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
        scratch.append(
          nghttp2_nv(
            name: start.map { $0 + field.start }, value: start.map { $0 + field.start + field.nameCount },
            namelen: field.nameCount,
            valuelen: field.valueCount, flags: UInt8(flags.rawValue)))
      }
      return scratch.withUnsafeBufferPointer(body)
    }
  }
}
