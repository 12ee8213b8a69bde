import BorealisBase
import CLinux
import COpenSSL
import Glibc

/// A server's TLS 1.3 connection behind the handshake, without OpenSSL's object: some 300 bytes as long as
/// no part of a record waits. Reads and writes a socket as `TLSSession` says.
final class RecordTransport {
  /// Why nothing more is read.
  private enum End {
    /// An alert of the peer; 0 is its proper end.
    case peer(UInt8)
    /// The peer broke a rule, and was sent this alert.
    case fault(RecordAlert)

    var transfer: TLSSession.Transfer {
      switch self {
      case .peer(RecordAlert.closeNotify.rawValue): .closed
      case .peer(let code): .failed("the peer sent an alert: \(RecordAlert.name(code))")
      case .fault(let alert): .failed("the peer broke the protocol: \(RecordAlert.name(alert.rawValue))")
      }
    }
  }

  private var layer: RecordLayer
  /// Whether the handshake resumed an earlier session.
  let isResumed: Bool
  private var end: End?
  /// Nothing more can be written.
  private var isMute = false
  /// What has come of a record, or of several for which the last reader had no room.
  private var held: [UInt8] = []
  /// Content for which the last reader had no room.
  private var content: [UInt8] = []
  /// What the socket has not taken of a record, and how many bytes of content that stands for.
  private var unsent: ArraySlice<UInt8> = []
  private var unsentContent = 0

  init(_ layer: RecordLayer, isResumed: Bool) { (self.layer, self.isResumed) = (layer, isResumed) }

  deinit { layer.wipe() }

  /// Bytes that wait for a reader, at least 1 if it is their end: the socket does not report them.
  var pending: Int {
    if !content.isEmpty { return content.count }
    guard end == nil else { return 1 }
    return switch held.withUnsafeBytes({ layer.size(of: $0) }) {
    case .success(let size?) where size <= held.count: 1
    case .success: 0
    // That it must not come is known without the rest.
    case .failure: 1
    }
  }

  // MARK: Another process

  /// Whether another process can go on with it: neither side has ended it.
  var isPassable: Bool { end == nil && !isMute }

  /// Writes all of it, keys first: see `RecordKeys.write`.
  func write(to writer: inout ByteWriter) {
    layer.write(to: &writer)
    writer.write(UInt8(isResumed ? 1 : 0))
    for bytes in [held[...], content[...], unsent] {
      writer.write(UInt32(bytes.count))
      writer.write(bytes: bytes)
    }
    writer.write(UInt16(unsentContent))
  }

  /// Reads what `write` wrote; nil if it is something else, or without memory.
  init?(from reader: inout ByteReader) {
    guard var layer = RecordLayer(from: &reader) else { return nil }
    defer { layer.wipe() }
    func bytes(_ most: Int) -> [UInt8]? {
      guard let count = reader.read(UInt32.self), Int(count) <= most else { return nil }
      return reader.read(count: Int(count))
    }
    guard let resumed = reader.read(UInt8.self), resumed <= 1,
      let held = bytes(2 * RecordLayer.largestRecord),
      let content = bytes(RecordLayer.largestContent), let unsent = bytes(2 * RecordLayer.largestRecord),
      let unsentContent = reader.read(UInt16.self), Int(unsentContent) <= layer.largest
    else { return nil }
    self.layer = layer
    isResumed = resumed == 1
    (self.held, self.content, self.unsent) = (held, content, unsent[...])
    // What the last record stood for says nothing once it has left.
    self.unsentContent = unsent.isEmpty ? 0 : Int(unsentContent)
  }

  /// Bytes of content, at the front of what waits to be sent, that are protected already.
  var protectedContent: Int { unsent.isEmpty ? 0 : unsentContent }

  // MARK: Reading

  func read(_ descriptor: Int32, into output: UnsafeMutableRawBufferPointer) -> TLSSession.Transfer {
    guard content.isEmpty else { return .bytes(moveContent(into: output)) }
    guard end == nil else { return transfer }
    let room = RecordRoom.ofThisThread
    var whole = 0..<held.count
    held.withUnsafeBytes { room.bytes.copyMemory(from: $0) }
    var used = held.count
    defer {
      held = whole.isEmpty ? [] : Array(room.bytes[whole])
      OPENSSL_cleanse(room.bytes.baseAddress, used)
    }
    var count = open(&whole, in: room, into: output, descriptor)
    if count == 0, end == nil {
      // Of a record at most a part is left, so that there is room for the rest and another one.
      let rest = UnsafeRawBufferPointer(rebasing: room.bytes[whole])
      room.bytes.copyMemory(from: rest)
      whole = 0..<rest.count
      let free = UnsafeMutableRawBufferPointer(rebasing: room.bytes[whole.count...])
      let got = cl_read(descriptor, free.baseAddress, free.count)
      if got == -Int(EAGAIN) || got == -Int(EINTR) { return .wantRead }
      guard got > 0 else {
        return .failed(got == 0 ? "the peer vanished" : String(cString: strerror(Int32(-got))))
      }
      whole = 0..<whole.count + got
      used = max(used, whole.count)
      count = open(&whole, in: room, into: output, descriptor)
    }
    return count > 0 ? .bytes(count) : transfer
  }

  private var transfer: TLSSession.Transfer { end?.transfer ?? .wantRead }

  private func moveContent(into output: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(content.count, output.count)
    content.withUnsafeBytes { output.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    content = count == content.count ? [] : Array(content[count...])
    return count
  }

  /// Decrypts the whole records of a part of the room until the output is full, or one ends the connection.
  /// Gives the bytes of content.
  private func open(
    _ whole: inout Range<Int>, in room: RecordRoom, into output: UnsafeMutableRawBufferPointer,
    _ descriptor: Int32
  ) -> Int {
    var count = 0
    while count < output.count, end == nil {
      do throws(RecordAlert) {
        guard let size = try layer.size(of: UnsafeRawBufferPointer(rebasing: room.bytes[whole])).get(),
          size <= whole.count
        else { break }
        let record = UnsafeMutableRawBufferPointer(
          rebasing: room.bytes[whole.lowerBound..<whole.lowerBound + size])
        whole = whole.lowerBound + size..<whole.upperBound
        switch layer.open(record, &room.ciphers) {
        case .content(let size):
          let found = UnsafeRawBufferPointer(
            rebasing: record[RecordLayer.headerSize..<RecordLayer.headerSize + size])
          let taken = min(size, output.count - count)
          UnsafeMutableRawBufferPointer(rebasing: output[count...]).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: found[..<taken]))
          if taken < size { content = Array(found[taken...]) }
          count += taken
        case .nothing: break
        case .closed: end = .peer(RecordAlert.closeNotify.rawValue)
        case .alert(let code):
          isMute = true
          end = .peer(code)
        case .fault(let alert): throw alert
        }
      } catch {
        send(error, descriptor)
        end = .fault(error)
      }
    }
    // What comes behind the end means nothing (RFC 8446 section 6.1).
    if end != nil { whole = 0..<0 }
    return count
  }

  // MARK: Writing

  func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> TLSSession.Transfer {
    guard !isMute else { return end.map(\.transfer) ?? .failed("nothing more can be sent") }
    if !unsent.isEmpty {
      guard bytes.count >= unsentContent else {
        isMute = true
        return .failed("less is to be sent than before")
      }
      let sent = unsent.withUnsafeBytes { cl_send(descriptor, $0.baseAddress, $0.count) }
      guard sent >= 0 || sent == -Int(EAGAIN) || sent == -Int(EINTR) else { return fail(Int32(-sent)) }
      unsent = unsent.dropFirst(max(0, sent))
      guard unsent.isEmpty else { return .wantWrite }
      unsent = []
      return .bytes(unsentContent)
    }
    let room = RecordRoom.ofThisThread
    let part = UnsafeRawBufferPointer(rebasing: bytes[..<min(bytes.count, layer.largest)])
    guard let size = layer.seal(part, into: room.bytes, &room.ciphers) else {
      isMute = true
      return .failed("a record cannot be protected")
    }
    let sent = cl_send(descriptor, room.bytes.baseAddress, size)
    if sent == size { return .bytes(part.count) }
    guard sent >= 0 || sent == -Int(EAGAIN) || sent == -Int(EINTR) else { return fail(Int32(-sent)) }
    // Also when nothing left: no nonce is used twice.
    unsent = ArraySlice(room.bytes[max(0, sent)..<size])
    unsentContent = part.count
    return .wantWrite
  }

  private func fail(_ number: Int32) -> TLSSession.Transfer {
    isMute = true
    return .failed(String(cString: strerror(number)))
  }

  /// Sends an alert, the last record, if the socket takes it now.
  func send(_ alert: RecordAlert, _ descriptor: Int32) {
    guard !isMute else { return }
    isMute = true
    // Within a record that waits it would be a part of that.
    guard unsent.isEmpty else { return }
    let room = RecordRoom.ofThisThread
    var record = [UInt8](repeating: 0, count: RecordLayer.overhead + 2)
    let size = record.withUnsafeMutableBytes { layer.seal(alert, into: $0, &room.ciphers) }
    if let size { _ = cl_send(descriptor, record, size) }
  }
}
