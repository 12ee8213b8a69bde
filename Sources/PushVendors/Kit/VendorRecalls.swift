import PushBase
import PushDomain
import PushHTTPClient
import PushRouter
import PushStorage
import Synchronization

/// The notifications that are taken back from devices that may show them. They are kept in memory only: what is not taken back within
/// minutes, or before a restart, stays. Safe to use from any thread.
final class VendorRecalls<V: Vendor>: Sendable {
  /// One push.
  private struct Entry: Sendable {
    let app: App
    let id: MessageID
    /// Who is to lose the notification; nil for all that got it.
    let from: NumberSet?
    /// Who gets the notification that replaces it over the same channel: it has the same number unless the push was itself one that
    /// replaced another.
    let replaced: NumberSet?
    let begunAt: Int64
    var due: Int64
    /// How often all were looked up.
    var passes = 0
    var done = NumberSet()
    var isRunning = false
  }

  /// The most pushes; more are not taken back from devices.
  private static var most: Int { 1024 }
  /// Seconds after the recall at which its devices are looked up: answers to requests under way come late.
  private static var passes: [Int64] { [1, 30, 120] }
  /// Seconds after which it is given up.
  private static var longest: Int64 { 600 }
  /// Seconds after which what the service could not do is tried again.
  private static var pause: Int64 { 10 }

  private let vendor: V
  private let parts: VendorParts
  private let entries = Mutex<[Entry]>([])

  /// Starts without any.
  init(_ vendor: V, _ parts: VendorParts) {
    self.vendor = vendor
    self.parts = parts
  }

  /// Takes the notification of a push back from all devices that got it; with `from` and `replaced` see `Entry`.
  func add(_ id: MessageID, of app: App, from: NumberSet? = nil, replaced: NumberSet? = nil) {
    guard vendor.canRecall else { return }
    let now = seconds
    let entry = Entry(
      app: app, id: id, from: from, replaced: replaced, begunAt: now, due: now + Self.passes[0])
    let hasRoom = entries.withLock { entries in
      guard entries.count < Self.most else { return false }
      if !entries.contains(where: { $0.id == id }) { entries.append(entry) }
      return true
    }
    guard !hasRoom else { return }
    parts.log.warning(
      "too many recalls: a notification stays on devices",
      ["channel": .text(vendor.info.name), "msg_id": .text(id.text)])
  }

  /// What sends for an app; nil if nothing can be sent now.
  typealias Sender = @Sendable (AppID) -> VendorDispatcher<V>?

  /// On the clock that nobody sets.
  private var seconds: Int64 { Int64(clamping: parts.time.monotonic() / 1_000_000_000) }

  /// Call once a second.
  func tick(_ sender: @escaping Sender) {
    for entry in takeDue(at: seconds) { look(up: entry, sender) }
  }

  /// Those that are to be looked up now; `finish` is called for each.
  private func takeDue(at now: Int64) -> [Entry] {
    entries.withLock { entries in
      entries.removeAll { !$0.isRunning && now > $0.begunAt + Self.longest }
      var taken: [Entry] = []
      for place in entries.indices where !entries[place].isRunning && entries[place].due <= now {
        entries[place].isRunning = true
        taken.append(entries[place])
      }
      return taken
    }
  }

  /// What has come of a step.
  private enum Step: Sendable {
    /// The service has answered for these; there may be more.
    case done([RegistrationNumber])
    /// Nobody is left.
    case passed
    /// It could not be done now.
    case failed
  }

  private func finish(_ entry: Entry, _ step: Step) {
    let (id, now) = (entry.id, seconds)
    entries.withLock { entries in
      guard let place = entries.firstIndex(where: { $0.id == id }) else { return }
      entries[place].isRunning = false
      switch step {
      case .done(let numbers):
        entries[place].done.formUnion(NumberSet(numbers))
        entries[place].due = now
      case .failed: entries[place].due = now + Self.pause
      case .passed:
        entries[place].passes += 1
        guard entries[place].passes < Self.passes.count else {
          entries.remove(at: place)
          return
        }
        entries[place].due = entries[place].begunAt + Self.passes[entries[place].passes]
      }
    }
  }

  func forget(_ app: App) { entries.withLock { $0.removeAll { $0.app === app } } }

  /// Some devices of a push: those that are left, and what their tokens are.
  private struct Found: Sendable {
    let numbers: [RegistrationNumber]
    let tokens: [[UInt8]]
    let content: PushContent
  }

  private func look(up entry: Entry, _ sender: @escaping Sender) {
    let (channel, slot, most, now) = (vendor.info.id, vendor.slot, vendor.mostTokens, parts.time.now())
    parts.store.read { transaction throws(StorageError) -> Found? in
      guard let rows = try transaction.deliveries.targets(of: entry.id),
        let targets = PushTargets(rows, at: now), let content = PushContent(decoding: rows.push.content)
      else { return nil }
      var left = targets.on(channel).accepted.subtracting(entry.done)
      if entry.from == nil, try transaction.pushes.origin(of: entry.id)?.isReplaced == true {
        // What devices show under its number now is the notification that took its place.
        return nil
      }
      if var from = entry.from {
        if content.overrides != nil, let replaced = entry.replaced { from.formUnion(replaced) }
        left.formIntersection(from)
      }
      let numbers = left.members(limit: most)
      guard !numbers.isEmpty else { return nil }
      let tokens = try transaction.tokens.find(app: entry.app.id, of: numbers, as: slot).map(\.token)
      return Found(numbers: numbers, tokens: tokens, content: content)
    } completion: { [self] result in
      switch result {
      case .failure: finish(entry, .failed)
      case .success(nil): finish(entry, .passed)
      case .success(let found?): takeBack(found, entry, sender)
      }
    }
  }

  private func takeBack(_ found: Found, _ entry: Entry, _ sender: Sender) {
    guard !found.tokens.isEmpty else { return finish(entry, .done(found.numbers)) }
    guard let dispatcher = sender(entry.app.id) else { return finish(entry, .failed) }
    let recall = VendorRecall(push: entry.id, content: found.content, tokens: found.tokens)
    dispatcher.send(recall) { [self] isOver in finish(entry, isOver ? .done(found.numbers) : .failed) }
  }
}

extension VendorDispatcher {
  /// Takes a notification back from some devices; says whether that is over, done or refused for good.
  func send(_ recall: VendorRecall, _ done: @escaping @Sendable (_ isOver: Bool) -> Void) {
    parts.transport.run { [self] in
      let isReady = state.withLock { !$0.isClosed && $0.restsUntil == 0 }
      guard isReady, let token = accessToken() else { return done(false) }
      guard let post = vendor.request(recall, with: credential, access: token) else { return done(true) }
      state.withLock { $0.inFlight += 1 }
      parts.transport.send(post) { [self] answer in
        state.withLock { $0.inFlight -= 1 }
        guard !answer.isClosed else { return done(false) }
        note(answer)
        guard answer.status != 0 else { return done(false) }
        if case .refreshAuthOnce = vendor.interpret(answer) { access.drop(token) }
        let isOver = vendor.endsRecall(answer)
        parts.metrics.count(isOver ? "recalled" : "recall_failed", of: vendor.info.name)
        if isOver, !(200..<300).contains(answer.status) {
          parts.log.warning(
            "a recall was refused",
            [
              "channel": .text(vendor.info.name), "msg_id": .text(recall.push.text),
              "status": .number(Int64(answer.status)),
              "reason": .text(VendorText.line(String(decoding: answer.body.prefix(200), as: UTF8.self))),
            ])
        }
        done(isOver)
      }
    }
  }
}
