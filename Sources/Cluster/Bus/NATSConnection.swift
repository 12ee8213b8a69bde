import BorealisBase
import CNATS
import Glibc
import Synchronization

/// A connection of libnats with its two subscriptions: the C edge. `@unchecked Sendable`: all calls but those
/// of libnats itself come from one thread at a time, first from the one that connects and then from the one
/// that publishes.
///
/// libnats has threads of its own: one reads, and each subscription has one that hands over messages. What
/// they call gets an `Observer`, which outlives the connection: libnats still calls for a while after it was
/// closed, and says when it has called for the last time.
final class NATSConnection: @unchecked Sendable {
  /// What libnats tells, on threads of its own.
  final class Observer: Sendable {
    fileprivate let inbox: BusMailbox
    /// The connection is closed for good.
    let isClosed = Atomic<Bool>(false)
    private let state = Mutex(State.new)
    let disconnections: Counter
    let errors: Counter
    private let closed: @Sendable () -> Void

    private enum State {
      case new
      case connected
      case away
    }

    /// `closed` is called when libnats has called for the last time.
    init(
      _ inbox: BusMailbox, disconnections: Counter, errors: Counter, closed: @escaping @Sendable () -> Void
    ) {
      self.inbox = inbox
      self.disconnections = disconnections
      self.errors = errors
      self.closed = closed
    }

    var isConnected: Bool { state.withLock { $0 == .connected } }

    /// The connection is of use, unless it has broken meanwhile.
    func began() {
      state.withLock { state in
        guard state == .new else { return }
        state = .connected
        inbox.add(.connected)
      }
    }

    /// It is told of only if `connected` was told.
    func disconnected() {
      state.withLock { state in
        defer { state = .away }
        guard state == .connected else { return }
        disconnections.add()
        inbox.add(.disconnected)
      }
    }

    func failed(_ text: String) {
      errors.add()
      inbox.add(.failed(text))
    }

    fileprivate func end() {
      disconnected()
      isClosed.store(true, ordering: .releasing)
      closed()
    }

    fileprivate static func from(_ context: UnsafeMutableRawPointer?) -> Observer? {
      context.map { Unmanaged<Observer>.fromOpaque($0).takeUnretainedValue() }
    }
  }

  /// Milliseconds, and bytes.
  private enum Times {
    static let connect: Int64 = 2000
    static let ping: Int64 = 2000
    static let write: Int64 = 2000
    static let pendingMessages: Int32 = 65_536
    static let pendingBytes: Int32 = 32 << 20
  }

  /// A call of libnats failed.
  struct Failure: Error {
    let text: String
  }

  let observer: Observer
  private var connection: OpaquePointer?
  private var subscriptions: [OpaquePointer] = []

  /// Connects. Takes two seconds at most for each server, but without a limit at one that greets it and then
  /// says nothing: `NATSAttempt` sets the limit.
  init(_ settings: BusSettings, name: String, subjects: [String], _ observer: Observer) throws(Failure) {
    self.observer = observer
    var made: OpaquePointer?
    try Self.check(natsOptions_Create(&made))
    guard let options = made else { throw Failure(text: "no memory") }
    defer { natsOptions_Destroy(options) }
    try Self.set(options, settings, name: name)
    // Given back when libnats says that the connection is closed.
    let context = Unmanaged.passRetained(observer)
    do throws(Failure) {
      try Self.setCallbacks(options, context.toOpaque())
      try Self.check(natsConnection_Connect(&connection, options))
    } catch {
      context.release()
      throw error
    }
    do throws(Failure) {
      for subject in subjects { try subscribe(subject) }
      observer.began()
    } catch {
      close()
      throw error
    }
  }

  deinit { close() }

  /// Ends it. libnats calls the observer a little longer.
  func close() {
    guard let connection else { return }
    for subscription in subscriptions { natsSubscription_Destroy(subscription) }
    subscriptions = []
    natsConnection_Close(connection)
    natsConnection_Destroy(connection)
    self.connection = nil
  }

  /// Sends a message. May wait for the socket, two seconds at most. False if it is not sent.
  func publish(_ bytes: [UInt8], to subject: String) -> Bool {
    guard let connection, observer.isConnected else { return false }
    let status = bytes.withUnsafeBytes {
      natsConnection_Publish(connection, subject, $0.baseAddress, Int32($0.count))
    }
    return status == NATS_OK
  }

  private func subscribe(_ subject: String) throws(Failure) {
    var made: OpaquePointer?
    let context = Unmanaged.passRetained(observer)
    let status = natsConnection_Subscribe(
      &made, connection, subject,
      { _, _, message, context in
        defer { natsMsg_Destroy(message) }
        guard let observer = Observer.from(context), let data = natsMsg_GetData(message) else { return }
        let count = Int(natsMsg_GetDataLength(message))
        guard count <= ClusterLimits.maxSealedFrame else { return observer.failed("a message is too large") }
        // libnats frees the message: the mailbox gets a copy.
        let bytes = UnsafeRawBufferPointer(start: data, count: count)
        observer.inbox.add([UInt8](bytes))
      }, context.toOpaque())
    guard status == NATS_OK, let subscription = made else {
      context.release()
      throw Failure(text: Self.text(status))
    }
    subscriptions.append(subscription)
    // Without this call the observer would live for ever.
    try Self.check(
      natsSubscription_SetOnCompleteCB(
        subscription, { if let context = $0 { Unmanaged<Observer>.fromOpaque(context).release() } },
        context.toOpaque()))
    try Self.check(
      natsSubscription_SetPendingLimits(subscription, Times.pendingMessages, Times.pendingBytes))
  }

  // MARK: Options

  private static func set(_ options: OpaquePointer, _ settings: BusSettings, name: String) throws(Failure) {
    let scheme = settings.tls == nil ? "nats://" : "tls://"
    var servers: [UnsafePointer<CChar>?] = settings.servers.map { UnsafePointer(strdup(scheme + $0)) }
    defer { for server in servers { free(UnsafeMutableRawPointer(mutating: server)) } }
    try check(natsOptions_SetServers(options, &servers, Int32(servers.count)))
    try check(natsOptions_SetName(options, name))
    try check(natsOptions_SetTimeout(options, Times.connect))
    // libnats would connect again without a limit of time, and would not tell why it fails.
    try check(natsOptions_SetAllowReconnect(options, false))
    try check(natsOptions_SetPingInterval(options, Times.ping))
    try check(natsOptions_SetMaxPingsOut(options, 2))
    try check(natsOptions_SetWriteDeadline(options, Times.write))
    try check(natsOptions_SetNoEcho(options, true))
    // What a node says together is one frame already.
    try check(natsOptions_SetSendAsap(options, true))
    switch settings.credentials {
    case .none: break
    case .user(let user, let password): try check(natsOptions_SetUserInfo(options, user, password))
    case .token(let token): try check(natsOptions_SetToken(options, token))
    case .file(let path): try check(natsOptions_SetUserCredentialsFromFiles(options, path, nil))
    }
    guard let tls = settings.tls else { return }
    try check(natsOptions_SetSecure(options, true))
    // libnats knows no authorities by itself.
    let authorities = tls.authorities ?? "/etc/ssl/certs/ca-certificates.crt"
    try check(natsOptions_LoadCATrustedCertificates(options, authorities))
    if let certificate = tls.certificate, let key = tls.key {
      try check(natsOptions_LoadCertificatesChain(options, certificate, key))
    }
  }

  private static func setCallbacks(_ options: OpaquePointer, _ context: UnsafeMutableRawPointer)
    throws(Failure)
  {
    try check(
      natsOptions_SetDisconnectedCB(
        options, { _, context in Observer.from(context)?.disconnected() }, context))
    try check(
      natsOptions_SetErrorHandler(
        options, { _, _, status, context in Observer.from(context)?.failed(NATSConnection.text(status)) },
        context))
    // The last call of all for a connection.
    try check(
      natsOptions_SetClosedCB(
        options,
        { _, context in
          guard let observer = Observer.from(context), let context else { return }
          observer.end()
          Unmanaged<Observer>.fromOpaque(context).release()
        }, context))
  }

  // MARK: Errors

  private static func check(_ status: natsStatus) throws(Failure) {
    guard status == NATS_OK else { throw Failure(text: text(status)) }
  }

  /// Only the name of the status: libnats' last error may quote an address with a password in it.
  private static func text(_ status: natsStatus) -> String {
    natsStatus_GetText(status).map { String(cString: $0) } ?? "error \(status.rawValue)"
  }
}
