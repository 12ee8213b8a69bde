import Glibc
import PushBase
import PushCrypto
import PushWire

/// Contents that only this device reads: telling its key, opening what comes, asking for keys that are shared.
extension DeviceRunner {
  private var now: Int64 { Int64(time(nil)) }

  /// Opens a push before the app gets it. One whose key may come waits; one that cannot be read at all is reported, and
  /// acknowledged: it would not open later either.
  func read(_ push: DevicePush) {
    switch keys?.read(push.content) {
    case nil, .plain: handOver(push)
    case .opened(let content, let key): handOver(push.opened(content, by: key))
    case .missing(let key): if held.hold(push, for: key) { ask(for: key) }
    case .failed(let key, let error):
      events.yield(
        .unreadable(push.messageID, key: key, code: ResultCode(rawValue: UInt16(clamping: error.rawValue))))
      drop(push.messageID)
    }
  }

  /// Has nothing more to do with a push that the app does not get.
  private func drop(_ id: MessageID) {
    state.noteHandled(id)
    perform(core.pushHandled(id, at: driver.now))
  }

  /// What the library itself does about an event.
  func noteForKeys(_ event: DeviceEvent) {
    guard keys != nil else { return }
    switch event {
    case .loggedIn:
      keys?.dropOld(at: now)
      tellKey()
      for key in held.due(at: driver.now, isNewSession: true) { ask(for: key) }
    case .recalled(let id): if held.remove(id) { drop(id) }
    default: break
    }
  }

  // MARK: The device's key

  /// Tells the server the key, unless it knows it. The first one is made now.
  private func tellKey() {
    guard let kind = core.profile.keyKind, let id = core.identity?.registrationID.text else { return }
    if keys?.publicKey?.kind != kind, !rotate(kind) { return }
    guard keys?.isToTell(to: id) == true else { return }
    tellKey(to: id) { _ in }
  }

  private func tellKey(to id: String, _ completion: @escaping Completion) {
    guard let key = keys?.publicKey else { return }
    submitOwn(.setKey(DeviceKey(key.kind, key.bytes))) { [weak self] result in
      // If the note fails, the server is told once more.
      if result.code == .ok, let self, self.keys?.publicKey == key, let record = self.keys?.noteTold(to: id) {
        _ = self.state.store(record)
      }
      completion(result)
    }
  }

  /// Makes a key; false if it cannot be stored, or if there are too many.
  private func rotate(_ kind: DeviceKeyKind) -> Bool {
    guard var ring = keys, let record = ring.rotate(kind, at: now), state.store(record) else { return false }
    keys = ring
    return true
  }

  /// Makes a new key at the app's wish.
  func rotateKey(_ completion: @escaping Completion) {
    func fail(_ code: ResultCode) {
      completion(OperationResult(sequence: 0, operation: .setKey(DeviceKey(.x25519, [])), code: code))
    }
    guard let kind = core.profile.keyKind else { return fail(.requestInvalid) }
    guard rotate(kind) else { return fail(.tooFrequent) }
    // The next login tells it.
    guard core.isLoggedIn, let id = core.identity?.registrationID.text else { return fail(.ok) }
    tellKey(to: id, completion)
  }

  // MARK: Shared keys

  /// Asks for the keys whose time has come.
  func askForKeys() {
    guard core.isLoggedIn else { return }
    for key in held.due(at: driver.now) { ask(for: key) }
  }

  private func ask(for id: ContentKeyID) {
    submitOwn(.getKey(id)) { [weak self] result in self?.take(id, result) }
  }

  private func take(_ id: ContentKeyID, _ result: OperationResult) {
    if case .key(let sealed) = result.value, let record = keys?.take(id, sealed: sealed) {
      // If it cannot be stored, it is asked for once more by the next run.
      _ = state.store(record)
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

  /// An operation of which the app hears nothing. Its completion comes on this thread.
  private func submitOwn(_ operation: Operation, _ completion: @escaping (OperationResult) -> Void) {
    let (sequence, actions) = core.submit(operation, at: driver.now)
    ownCompletions[sequence] = completion
    perform(actions)
  }
}
