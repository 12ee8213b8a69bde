// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import COpenSSL
import Dispatch
import Foundation
import Security

/// A stream over a socket, with TLS by OpenSSL or none. All of it happens on a queue of its own; the
/// connection's owner is called on the owner's.
final class Stream: @unchecked Sendable {
  typealias Reading = @Sendable (Data?, Bool, NWError?) -> Void

  /// Set before `start`.
  var handler: (@Sendable (NWConnection.State) -> Void)?

  private let host: String
  private let port: UInt16
  private let tls: sec_protocol_options_t?
  private let work = DispatchQueue(label: "connection")
  private var queue = DispatchQueue.main
  private var socket: Int32 = -1
  private var ssl: OpaquePointer?
  private var context: OpaquePointer?
  private var isCancelled = false
  private var reading: (most: Int, done: Reading)?
  /// What waits until the socket is readable, and those that were cancelled and still know the socket.
  private var source: (any DispatchSourceRead)?
  private var sources = 0

  init(host: String, port: UInt16, tls: sec_protocol_options_t?) {
    (self.host, self.port, self.tls) = (host, port, tls)
  }

  func start(_ queue: DispatchQueue) {
    work.async { [self] in
      self.queue = queue
      notify(.preparing)
      guard connect() else { return }
      guard let tls else { return notify(.ready) }
      guard handshake(least: tls.minimum) else { return fail(.tls(-9808)) }
      tls.decide(chain: chain, host: host) { [self] isTrusted in
        work.async { [self] in if isTrusted { notify(.ready) } else { fail(.tls(-9807)) } }
      }
    }
  }

  func receive(_ most: Int, _ done: @escaping Reading) {
    work.async { [self] in
      reading = (most, done)
      read()
    }
  }

  func send(_ content: Data, isFinal: Bool, _ done: @escaping @Sendable (NWError?) -> Void) {
    work.async { [self] in
      let isSent = write(Array(content))
      if isFinal, isSent {
        if let ssl { SSL_shutdown(ssl) }
        shutdown(socket, Int32(SHUT_WR))
      }
      queue.async { done(isSent ? nil : .posix(EPIPE)) }
    }
  }

  func cancel() {
    work.async { [self] in
      guard !isCancelled else { return }
      isCancelled = true
      source?.cancel()
      closeSocket()
      finishReading(nil, false, .posix(ECANCELED))
      notify(.cancelled)
      queue.async { [self] in handler = nil }
    }
  }

  /// Closes it once no source knows it: another socket gets its number.
  private func closeSocket() {
    guard isCancelled, sources == 0, socket >= 0 else { return }
    SSL_free(ssl)
    SSL_CTX_free(context)
    close(socket)
    (ssl, context, socket) = (nil, nil, -1)
  }

  private func notify(_ state: NWConnection.State) { queue.async { [self] in handler?(state) } }

  private func fail(_ error: NWError) { if !isCancelled { notify(.failed(error)) } }
}

// MARK: - Steps, on the queue of the stream
extension Stream {
  /// Tries each address. As Apple's does, it waits for a better time if none responds.
  private func connect() -> Bool {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hints, &list)
    defer { if let list { freeaddrinfo(list) } }
    guard status == 0 else {
      notify(.waiting(.dns(status)))
      return false
    }
    var next = list
    while let entry = next, !isCancelled {
      next = entry.pointee.ai_next
      let new = Glibc.socket(
        entry.pointee.ai_family, entry.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
      if Glibc.connect(new, entry.pointee.ai_addr, entry.pointee.ai_addrlen) == 0 {
        _ = fcntl(new, F_SETFL, fcntl(new, F_GETFL) | O_NONBLOCK)
        socket = new
        return true
      }
      close(new)
    }
    notify(.waiting(.posix(ECONNREFUSED)))
    return false
  }

  private func handshake(least version: UInt16) -> Bool {
    context = SSL_CTX_new(TLS_client_method())
    ssl = SSL_new(context)
    guard let ssl, SSL_ctrl(ssl, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(version), nil) == 1,
      SSL_set_fd(ssl, socket) == 1
    else { return false }
    _ = co_set_peer_name(ssl, host)
    // The owner decides about certificates.
    SSL_set_verify(ssl, SSL_VERIFY_NONE, nil)
    while true {
      let result = SSL_connect(ssl)
      if result == 1 { return true }
      guard wait(for: SSL_get_error(ssl, result)) else { return false }
    }
  }

  /// Waits until a step of TLS can go on; false if it cannot.
  private func wait(for reason: Int32) -> Bool {
    ERR_clear_error()
    let events = reason == SSL_ERROR_WANT_READ ? POLLIN : reason == SSL_ERROR_WANT_WRITE ? POLLOUT : 0
    var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
    return events != 0 && poll(&entry, 1, 10_000) == 1
  }

  private var chain: [Data] {
    guard let ssl, let list = SSL_get_peer_cert_chain(ssl) else { return [] }
    return (0..<co_certificate_count(list)).compactMap { index in
      let certificate = co_certificate_at(list, index)
      var bytes: UnsafeMutablePointer<UInt8>?
      let count = i2d_X509(certificate, &bytes)
      guard count > 0, let bytes else { return nil }
      defer { CRYPTO_free(bytes, nil, 0) }
      return Data(bytes: bytes, count: Int(count))
    }
  }

  private func write(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      guard socket >= 0, !isCancelled else { return false }
      let written = rest.withUnsafeBytes { buffer in
        ssl.map { Int(SSL_write($0, buffer.baseAddress, Int32(buffer.count))) }
          ?? Glibc.send(socket, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
      }
      if written > 0 {
        rest = rest.dropFirst(written)
      } else {
        let reason =
          ssl.map { SSL_get_error($0, Int32(written)) } ?? (errno == EAGAIN ? SSL_ERROR_WANT_WRITE : 0)
        guard wait(for: reason) else { return false }
      }
    }
    return true
  }

  private func read() {
    guard let reading, socket >= 0, !isCancelled else { return }
    var buffer = [UInt8](repeating: 0, count: reading.most)
    let count =
      ssl.map { Int(SSL_read($0, &buffer, Int32(buffer.count))) }
      ?? Glibc.recv(socket, &buffer, buffer.count, 0)
    if count > 0 { return finishReading(Data(buffer[..<count]), false, nil) }
    let number = errno
    let reason = ssl.map { SSL_get_error($0, Int32(count)) } ?? 0
    ERR_clear_error()
    if ssl == nil ? count < 0 && number == EAGAIN : reason == SSL_ERROR_WANT_READ { return readLater() }
    let isEnd = ssl == nil ? count == 0 : reason == SSL_ERROR_ZERO_RETURN
    finishReading(nil, isEnd, isEnd ? nil : .posix(ECONNRESET))
  }

  private func readLater() {
    let new = DispatchSource.makeReadSource(fileDescriptor: socket, queue: work)
    sources += 1
    new.setEventHandler { [self] in
      new.cancel()
      source = nil
      read()
    }
    new.setCancelHandler { [self] in
      sources -= 1
      closeSocket()
    }
    source = new
    new.activate()
  }

  private func finishReading(_ content: Data?, _ isEnd: Bool, _ error: NWError?) {
    guard let (_, done) = reading else { return }
    reading = nil
    queue.async { done(content, isEnd, error) }
  }
}
