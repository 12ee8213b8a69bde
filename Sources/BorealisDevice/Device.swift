import BorealisBase
import BorealisProtocol

/// One install of an app, kept connected to Borealis: registers at its first start, logs in, reconnects, and
/// hands pushes to the app once each.
///
///     let device = Device(configuration)
///     try device.start()
///     for await event in device.events {
///       if case .push(let push) = event {
///         show(push)
///         device.handled(push.messageID)
///       }
///     }
///
/// All calls may come from any thread and return immediately; those with a result are `async`. Releasing the
/// device ends its connection. Before the first `start` a device opens no connection, reads and writes no
/// file, and has no thread: operations end with 6012.
public final class Device: Sendable {
  /// All events, in order, from `start` to `close`. For one reader. No event is lost while nothing reads;
  /// with 1024 unhandled pushes the device stops reading from its server until no more than 512 are left.
  ///
  /// The counterparts are JPush's `kJPFNetwork…Notification`s and GeTui's `GeTuiSdkDelegate`: see
  /// `DeviceEvent`.
  public let events: AsyncStream<DeviceEvent>

  /// What happens before the first start.
  private enum Stage: Sendable {
    /// What is recorded at the start.
    case new([EarlyReport])
    case set
    case closed
  }

  private enum EarlyReport: Sendable {
    case notification(RemotePayload, tapped: Bool)
    case receipt(Receipt)
    case facts([DeviceFact: String])
  }

  /// So many reports wait for the start; others are dropped.
  private static let mostEarly = 256

  private let server: ServerAddress
  private let profile: DeviceProfile
  private let continuation: AsyncStream<DeviceEvent>.Continuation
  private let hub: DeviceHub
  private let key: UInt32
  let state: DeviceState
  private let stage = DeviceLock(Stage.new([]))

  /// A device with a thread and a state file of its own.
  public convenience init(_ configuration: DeviceConfiguration) {
    self.init(
      server: configuration.server, profile: configuration.profile,
      store: DeviceStore(path: configuration.statePath), hub: DeviceHub(security: configuration.security))
  }

  /// One of many devices that share a hub, a state file or both. `number` identifies it within the file: it
  /// is unique, and stays the same across restarts.
  public init(
    server: ServerAddress, profile: DeviceProfile, store: DeviceStore, number: UInt32 = 0, hub: DeviceHub
  ) {
    (self.server, self.profile, self.hub) = (server, profile, hub)
    (events, continuation) = AsyncStream<DeviceEvent>.makeStream()
    state = DeviceState(store: store, number: number, appKey: profile.appKey)
    key = hub.makeKey()
  }

  deinit { hub.post(.close(key, {})) }

  /// The registration that the device has; nil until the first `registered` event.
  ///
  /// JPUSHService: `registrationID`. GeTuiSdk: `clientId`.
  public var registrationID: RegistrationID? { state.registrationID }

  /// Connects and stays connected. Does nothing if already started. The first call opens the state file; if
  /// it throws, another one may be made later.
  ///
  /// JPUSHService: `setupWithOption:appKey:channel:apsForProduction:`, on Android `resumePush`. GeTuiSdk:
  /// `startSdkWithAppId:appKey:appSecret:delegate:launchingOptions:`.
  public func start() throws(DeviceSetUpError) {
    let early = try stage.withLock { stage throws(DeviceSetUpError) -> [EarlyReport] in
      guard case .new(let early) = stage else { return [] }
      try setUp()
      stage = .set
      return early
    }
    for report in early {
      switch report {
      case .notification(let payload, let tapped): record(payload, tapped: tapped)
      case .receipt(let receipt): self.report(receipt)
      case .facts(let facts): setFacts(facts)
      }
    }
    hub.post(.start(key))
  }

  private func setUp() throws(DeviceSetUpError) {
    try hub.open()
    try state.open()
    let stored = state.load(former: profile.formerRegistrationID)
    let core = DeviceCore(
      server: server, profile: profile, fingerprint: stored.fingerprint, identity: stored.identity,
      wishes: stored.wishes, handled: stored.handled, inHand: stored.inHand, seed: SystemRandom.next())
    let keys = profile.keyKind.map { _ in DeviceKeyRing(stored.keys) }
    hub.post(.add(key, DeviceRunner.Parts(core: core, state: state, keys: keys, events: continuation)))
  }

  /// Whether the state file is open and the hub knows the device.
  private var isSetUp: Bool { stage.withLock { if case .set = $0 { true } else { false } } }

  /// Disconnects until `start`. Operations end with 6012; the server keeps pushes in the meantime.
  ///
  /// JPush on Android: `stopPush`. GeTuiSdk: `setPushModeForOff:`.
  public func stop() { hub.post(.stop(key)) }

  /// Disconnects permanently, ends `events`, and returns when the socket is closed and handled pushes are
  /// acknowledged.
  ///
  /// GeTuiSdk: `destroy`.
  public func close() async {
    let wasSetUp = stage.withLock { stage in
      defer { stage = .closed }
      return if case .set = stage { true } else { false }
    }
    guard wasSetUp else { return continuation.finish() }
    await awaitCallback { done in hub.post(.close(key, { done(()) })) }
  }

  /// The network has changed: a device that waits for its next attempt connects immediately, and one that is
  /// connected asks the server at once whether the connection still works.
  public func networkChanged() { hub.post(.networkChanged(key)) }

  /// The app has shown or processed a push. Call it for every `push` event: only then does the device
  /// acknowledge the push. When this returns, the push is recorded in the state file and is not delivered to
  /// the app again, however the process ends.
  ///
  /// It is recorded as well if the device was closed meanwhile: the app may still have events to read.
  public func handled(_ id: MessageID) {
    state.noteHandled(id)
    hub.post(.handled(key, id))
  }

  /// Starts an operation without waiting for it: its result is an event. Operations are carried out in the
  /// order of these calls.
  public func submit(_ operation: Operation) {
    guard isSetUp else {
      continuation.yield(.operationResult(Self.refusal(of: operation)))
      return
    }
    hub.post(.submit(key, operation, { _ in }))
  }

  /// Reports that the notification of a push was shown, for statistics. Kept for the next session if there is
  /// none, or for the start.
  ///
  /// JPUSHService: done by the SDK; `jpushReceiveNotificationRequest:with:` in an extension.
  public func reportShown(_ id: MessageID) { report(Receipt(.shown, id)) }

  /// Reports that the user tapped the notification of a push, for statistics.
  ///
  /// `handleRemoteNotification` does this for notifications through APNs.
  public func reportTapped(_ id: MessageID) { report(Receipt(.tapped, id)) }

  /// Reports that the app has shown the in-app message of a push, for statistics. Counts apart from its
  /// notification. A server from before version 7 of the protocol does not get it.
  public func reportInAppShown(_ id: MessageID) { report(Receipt(.inAppShown, id)) }

  /// Reports that the user tapped the in-app message of a push, for statistics.
  public func reportInAppTapped(_ id: MessageID) { report(Receipt(.inAppTapped, id)) }

  /// Facts that are known now, or have changed; an empty one is not known any more. Only those that the
  /// server asks for are sent.
  public func setFacts(_ facts: [DeviceFact: String]) {
    if keepForStart(.facts(facts)) == nil { hub.post(.setFacts(key, facts)) }
  }

  private func report(_ receipt: Receipt) {
    if keepForStart(.receipt(receipt)) == nil { hub.post(.report(key, receipt)) }
  }

  /// Keeps what is reported before the start, and returns what was reported until then; nil after the start.
  private func keepForStart(_ report: EarlyReport) -> [EarlyReport]? {
    stage.withLock { stage in
      guard case .new(let early) = stage else { return nil }
      if early.count < Self.mostEarly { stage = .new(early + [report]) }
      return early
    }
  }

  /// Handles a notification from APNs: the payload as JSON, at most 16 KiB. Call it when the system reports
  /// that one arrived or that the user `tapped` it; for one push both calls may happen. Returns nil and does
  /// nothing if the payload is not from this server.
  ///
  /// Reports the notification as shown or tapped, and records it in the state file: a push with the same
  /// `msg_id` that arrives over the direct connection afterwards has `notificationWasShown`, so that the user
  /// sees one notification and the app still gets the push's message. Before the first `start` it is only
  /// remembered, and recorded then.
  ///
  ///     if let notification = device.handleRemoteNotification(payload), !notification.shouldPresent {
  ///       // In `userNotificationCenter(_:willPresent:…)`: the user has had this one.
  ///     }
  ///
  /// JPUSHService: `handleRemoteNotification:`. GeTuiSdk: `handleRemoteNotification:`.
  @discardableResult
  public func handleRemoteNotification(_ payload: [UInt8], tapped: Bool = false) -> RemoteNotification? {
    guard let payload = RemotePayload(payload) else { return nil }
    let early = keepForStart(.notification(payload, tapped: tapped))
    let isNew =
      early.map { early in
        !early.contains {
          if case .notification(let earlier, _) = $0 { earlier.messageID == payload.messageID } else { false }
        }
      } ?? record(payload, tapped: tapped)
    return RemoteNotification(
      messageID: payload.messageID, wasTapped: tapped, shouldPresent: isNew && !tapped)
  }

  /// Records a notification from APNs; false if the user has had it.
  @discardableResult
  private func record(_ payload: RemotePayload, tapped: Bool) -> Bool {
    let isNew = state.settle(payload.messageID)
    if isNew, payload.isVisible { reportShown(payload.messageID) }
    if tapped { reportTapped(payload.messageID) }
    return isNew
  }

  /// Makes a new key for contents that only this device reads and tells it to the server. The old one opens
  /// contents for eleven days more, as no push is kept for longer. Ends with 6017 for a device without keys,
  /// with 6011 if 16 old ones are still needed. If the server refuses the new key, the old one stays the
  /// device's, and the new one's bytes leave the state file. Without an answer (6002, 6012) the new one
  /// stays, and is told again.
  public func rotateKey() async throws(DeviceOperationError) {
    guard isSetUp else { throw DeviceOperationError(.stopped) }
    let result = await awaitCallback { done in hub.post(.rotateKey(key, done)) }
    guard result.code == .ok else { throw DeviceOperationError(result.code) }
  }

  func result(of operation: Operation) async -> OperationResult {
    guard isSetUp else { return Self.refusal(of: operation) }
    return await awaitCallback { done in hub.post(.submit(key, operation, done)) }
  }

  /// The result of an operation before the start or after the end.
  private static func refusal(of operation: Operation) -> OperationResult {
    OperationResult(sequence: 0, operation: operation, code: .stopped)
  }
}
