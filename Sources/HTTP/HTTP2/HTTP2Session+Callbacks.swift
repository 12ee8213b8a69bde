import CNghttp2

/// Callbacks of nghttp2 while it reads and writes. They must not call back into reading or writing.
extension HTTP2Session {
  private static func of(_ context: UnsafeMutableRawPointer?) -> HTTP2Session? {
    context.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
  }

  static func setCallbacks(_ callbacks: OpaquePointer?) {
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, head, context in
      guard let head else { return 0 }
      HTTP2Session.of(context)?.noticeFrame(head.pointee)
      return 0
    }
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, context in
      guard let frame, let session = HTTP2Session.of(context) else { return 0 }
      return session.beginHeaders(frame.pointee.hd.stream_id)
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
      _, _, name, nameCount, value, valueCount, _, context in
      HTTP2Session.of(context)?.addField(
        UnsafeBufferPointer(start: name, count: nameCount),
        UnsafeBufferPointer(start: value, count: valueCount))
        ?? 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, context in
      guard let session = HTTP2Session.of(context), count > 0 else { return 0 }
      session.events.append(
        .data(session.stream(id), Array(UnsafeBufferPointer(start: bytes, count: count))))
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
      guard let frame else { return 0 }
      HTTP2Session.of(context)?.received(frame.pointee)
      return 0
    }
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, status, context in
      guard let frame, let session = HTTP2Session.of(context) else { return 0 }
      session.events.append(
        .violation(streamID: frame.pointee.hd.stream_id, HTTP2Session.reason(status)))
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, context in
      HTTP2Session.of(context)?.closed(id, HTTP2ErrorCode(rawValue: code))
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, context in
      guard let frame, let session = HTTP2Session.of(context) else { return 0 }
      let head = frame.pointee.hd
      if head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0,
        let slot = session.slot(of: head.stream_id)
      {
        session.slots[slot].endPosition = session.position
      }
      return 0
    }
  }

  /// Reads from the body of the stream's slot.
  static func provider() -> nghttp2_data_provider {
    nghttp2_data_provider(source: nghttp2_data_source()) { _, id, buffer, capacity, flags, _, context in
      guard let session = HTTP2Session.of(context), let slot = session.slot(of: id), let buffer, let flags
      else {
        return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
      }
      let (count, isLast) = session.copyBody(
        slot, into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity))
      if isLast { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
      return count
    }
  }

  private func copyBody(_ slot: Int, into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool)
  {
    let offset = slots[slot].offset
    let count = min(slots[slot].body.count - offset, buffer.count, slots[slot].chunk)
    slots[slot].body.withUnsafeBytes { body in
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: body[offset..<offset + count]))
    }
    slots[slot].offset = offset + count
    return (count, offset + count == slots[slot].body.count)
  }

  private func noticeFrame(_ head: nghttp2_frame_hd) {
    guard let goAwaySent, UInt32(head.type) == NGHTTP2_HEADERS.rawValue, head.stream_id > goAwaySent else {
      return
    }
    events.append(.ignoredStream(id: head.stream_id))
  }

  private func beginHeaders(_ id: Int32) -> Int32 {
    incoming = HTTP2Headers(reserving: 256, fields: 12)
    if role == .server, slot(of: id) == nil {
      let slot = addSlot(Slot())
      return nghttp2_session_set_stream_user_data(handle, id, Self.pointer(slot))
    }
    return 0
  }

  private func addField(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Int32 {
    let cost = incoming.byteCount + name.count + value.count + 32 * (incoming.count + 1)
    guard cost <= options.headerListBytes else { return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue }
    incoming.append(name: name, value)
    return 0
  }

  private func received(_ frame: nghttp2_frame) {
    let head = frame.hd
    let isAcknowledgement = head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
    switch nghttp2_frame_type(UInt32(head.type)) {
    case NGHTTP2_HEADERS:
      events.append(.headers(stream(head.stream_id), incoming))
      incoming = HTTP2Headers()
      noticeEnd(head)
    case NGHTTP2_DATA: noticeEnd(head)
    case NGHTTP2_SETTINGS: events.append(isAcknowledgement ? .settingsAcknowledged : .settings(peerSettings))
    case NGHTTP2_PING: events.append(isAcknowledgement ? .pong(Self.number(frame.ping)) : .ping)
    case NGHTTP2_PRIORITY: events.append(.priority)
    case NGHTTP2_GOAWAY:
      let goAway = frame.goaway
      let debug = Array(UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len))
      events.append(
        .goAway(last: goAway.last_stream_id, HTTP2ErrorCode(rawValue: goAway.error_code), debug: debug))
    default: break
    }
  }

  private func noticeEnd(_ head: nghttp2_frame_hd) {
    guard head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return }
    events.append(.end(stream(head.stream_id)))
  }

  private func closed(_ id: Int32, _ code: HTTP2ErrorCode) {
    events.append(.closed(stream(id), code))
    if let slot = slot(of: id) {
      nghttp2_session_set_stream_user_data(handle, id, nil)
      freeSlot(slot)
    }
  }

  private var peerSettings: HTTP2PeerSettings {
    HTTP2PeerSettings(
      maxConcurrentStreams: nghttp2_session_get_remote_settings(
        handle, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS),
      initialWindowSize: nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE))
  }

  private static func number(_ ping: nghttp2_ping) -> UInt64 {
    withUnsafeBytes(of: ping.opaque_data) { $0.reduce(0) { $0 << 8 | UInt64($1) } }
  }
}
