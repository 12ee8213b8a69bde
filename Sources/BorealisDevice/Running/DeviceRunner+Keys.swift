import BorealisBase
import BorealisCrypto
import BorealisProtocol

/// End-to-end encryption: sends the device's key, decrypts pushes, requests shared keys.
extension DeviceRunner {
  private var now: Int64 { driver.wall }

  /// Decrypts a push before the app gets it. One whose key may still arrive waits; one that cannot be
  /// decrypted at all is reported, and acknowledged, since decryption would not succeed later either.
  func read(_ push: DevicePush) {
    switch keys?.read(push.content) {
    case nil, .plain: handOver(push)
    case .opened(let content, let key): handOver(push.opened(content, by: key))
    case .missing(let key, let seconds):
      let life = Self.life(of: push.messageID, seconds, at: now)
      if held.hold(push, for: key, at: driver.now, life: life) { ask(for: key) }
    case .failed(let key, let error):
      events.yield(
        .unreadable(push.messageID, key: key, code: ResultCode(rawValue: UInt16(clamping: error.rawValue))))
      drop(push.messageID)
    }
  }

  /// Milliseconds for which a push is still kept. Its ID says when it was accepted; a clock by which it could
  /// not have come any more is wrong, and counts for nothing.
  static func life(of id: MessageID, _ seconds: Int64, at now: Int64) -> UInt64 {
    let age = now - id.time.seconds
    let rest = age >= 0 && age < seconds ? seconds - age : seconds
    return UInt64(max(0, rest)) * 1000
  }

  /// Does what the time has come for.
  func keysDeadlineReached() {
    guard keys != nil else { return }
    leaveLate()
    for (id, key) in held.ended(at: driver.now) {
      events.yield(.unreadable(id, key: key, code: .keyMissing))
      drop(id)
    }
    dropOldKeys()
    guard core.isLoggedIn else { return }
    if keyReporting.isDue(at: driver.now) { sendKey() }
    for key in held.due(at: driver.now) { ask(for: key) }
  }

  /// Leaves pushes whose key did not come in time to the channels that bring their notifications.
  func leaveLate() {
    guard held.count > 0 else { return }
    core.steady = driver.steady
    for id in held.ids where core.leaveToChannel(id) {
      _ = held.remove(id)
      events.yield(.leftToChannel(id))
    }
  }

  /// When the next of them is too late.
  func nextLate() -> UInt64? {
    guard held.count > 0 else { return nil }
    core.steady = driver.steady
    return held.ids.compactMap { core.timeToShow($0) }.min().map { driver.now &+ min($0, 1 << 40) }
  }

  /// Forgets old keys that no push needs any more, with their bytes. If that fails, the bytes go when the
  /// file is next rewritten.
  private func dropOldKeys() {
    let ended = keys?.dropOld(at: now) ?? []
    if !ended.isEmpty { _ = state.drop(ended) }
  }

  /// Has nothing more to do with a push that the app does not get.
  private func drop(_ id: MessageID) {
    state.noteHandled(id)
    perform(core.pushHandled(id, at: driver.now))
  }

  /// The library's own handling of an event.
  func noteForKeys(_ event: DeviceEvent) {
    guard keys != nil else { return }
    switch event {
    case .loggedIn:
      dropOldKeys()
      keyReporting = KeyReporting()
      sendKey()
      for key in held.due(at: driver.now, isNewSession: true) { ask(for: key) }
    case .recalled(let id): if held.remove(id) { drop(id) }
    default: break
    }
  }

  // MARK: The device's key

  /// Sends the key to the server, unless it has it. The first one is made now.
  private func sendKey() {
    guard let kind = core.profile.keyKind, let id = core.identity?.registrationID.text else { return }
    if keys?.publicKey?.kind != kind, rotate(kind) == nil { return keyReporting.failed(at: driver.now) }
    guard keys?.needsReport(to: id) == true else { return }
    sendKey(to: id) { _ in }
  }

  private func sendKey(to id: String, _ completion: @escaping (OperationResult) -> Void) {
    guard let key = keys?.publicKey else { return }
    keyReporting.begun()
    submitOwn(.setKey(DeviceKey(key.kind, key.bytes))) { [weak self] result in
      guard let self else { return completion(result) }
      if result.code != .ok {
        keyReporting.failed(at: driver.now)
      } else if keys?.publicKey == key, let records = keys?.noteReported(to: id, at: now) {
        // If the note fails, the server is told once more.
        for record in records { _ = state.store(record) }
      }
      completion(result)
      settle()
    }
  }

  /// Makes a key; nil if it cannot be stored, or if there are too many.
  private func rotate(_ kind: DeviceKeyKind) -> DevicePublicKey? {
    guard var ring = keys else { return nil }
    let ended = ring.dropOld(at: now)
    guard let record = ring.rotate(kind, at: now), state.store(record) else { return nil }
    keys = ring
    if !ended.isEmpty { _ = state.drop(ended) }
    return ring.publicKey
  }

  /// The server has refused a key that the app had asked for: the one before stays the device's key.
  private func discard(_ key: DevicePublicKey, registration id: String) {
    guard keys?.discard(key.id) == true else { return }
    _ = state.drop([key.id])
    // Unless the server knows that one already.
    if keys?.needsReport(to: id) != true { keyReporting = KeyReporting() }
  }

  /// Makes a new key at the app's request.
  func rotateKey(_ completion: @escaping Completion) {
    func fail(_ code: ResultCode) {
      completion(OperationResult(sequence: 0, operation: .setKey(DeviceKey(.x25519, [])), code: code))
    }
    guard let kind = core.profile.keyKind else { return fail(.requestInvalid) }
    guard let key = rotate(kind) else { return fail(.tooFrequent) }
    // The next login tells it.
    guard core.isLoggedIn, let id = core.identity?.registrationID.text else { return fail(.ok) }
    sendKey(to: id) { [weak self] result in
      // Without an answer the server may have it: then it stays, and is told again.
      if ![.ok, .timeout, .stopped].contains(result.code) { self?.discard(key, registration: id) }
      completion(result)
    }
  }

  // MARK: Shared keys

  private func ask(for id: ContentKeyID) {
    submitOwn(.getKey(id)) { [weak self] result in self?.handle(id, result) }
  }

  private func handle(_ id: ContentKeyID, _ result: OperationResult) {
    if case .key(let sealed) = result.value, let record = keys?.add(id, sealed: sealed) {
      // If it cannot be stored, the next run requests it again.
      _ = state.store(record)
      leaveLate()
      for push in held.release(id) { read(push) }
      return settle()
    }
    let isForOther = result.code == .ok
    if held.notFound(id, at: driver.now, isFinal: isForOther || result.code == .keyMissing) {
      let code = isForOther ? ResultCode(rawValue: UInt16(ContentError.damaged.rawValue)) : .keyMissing
      events.yield(.keyMissing(id, code: code))
    }
    settle()
  }

  /// An operation without events for the app. Its completion runs on this thread.
  private func submitOwn(_ operation: Operation, _ completion: @escaping (OperationResult) -> Void) {
    let (sequence, actions) = core.submit(operation, at: driver.now)
    ownCompletions[sequence] = completion
    perform(actions)
  }
}
