import BorealisBase
import Core
import HTTP
import Model
import Storage
import Synchronization

/// The notifications that are recalled from devices that may show them. They are kept in memory only: what
/// is not recalled within minutes, or before a restart, stays. Safe to use from any thread.
final class VendorRecalls<V: Vendor>: Sendable {
  /// One push.
  private struct Entry: Sendable {
    let app: App
    let id: MessageID
    /// Who is to lose the notification; nil for all that got it.
    let from: NumberSet?
    /// Who gets the notification that replaces it over the same channel: it has the same number unless the
    /// push was itself one that replaced another.
    let replaced: NumberSet?
    let begunAt: Int64
    var due: Int64
    /// How often all were looked up.
    var passes = 0
    var done = NumberSet()
    var isRunning = false
  }

  private struct State: Sendable {
    var entries: [AppID: [MessageID: Entry]] = [:]
    var count = 0
    /// Those that are being looked up, or wait for an answer.
    var running = 0

    mutating func change(_ app: AppID, _ id: MessageID, _ body: (inout Entry) -> Void) {
      guard var entry = entries[app]?[id] else { return }
      body(&entry)
      entries[app]?[id] = entry
    }

    mutating func remove(_ app: AppID, _ id: MessageID) {
      guard entries[app]?.removeValue(forKey: id) != nil else { return }
      count -= 1
      if entries[app]?.isEmpty == true { entries[app] = nil }
    }

    /// The newest entry of the app with the most, if that has more than one with so many.
    func newest(ofMoreThan few: Int) -> Entry? {
      guard let largest = entries.values.max(by: { $0.count < $1.count }), largest.count > few else {
        return nil
      }
      return largest.values.filter { !$0.isRunning }.max { $0.id < $1.id }
    }
  }

  /// The most pushes. When there are as many, each app has room for as many as any other: one with more gives
  /// way.
  static var most: Int { 4096 }
  /// The most that are looked up at a time, and those of one app: a service that does not answer leaves room
  /// for other apps.
  private static var mostRunning: Int { 256 }
  private static var mostRunningOfApp: Int { 64 }
  /// Seconds after the recall at which its devices are looked up: answers to requests under way come late.
  private static var passes: [Int64] { [1, 30, 120] }
  /// Seconds after which it is given up.
  private static var longest: Int64 { 600 }
  /// Seconds after which what the service could not do is tried again.
  private static var pause: Int64 { 10 }

  private let vendor: V
  private let parts: VendorParts
  private let state = Mutex(State())

  /// Starts without any.
  init(_ vendor: V, _ parts: VendorParts) {
    self.vendor = vendor
    self.parts = parts
  }

  /// Recalls the notification of a push from all devices that got it; with `from` and `replaced` see
  /// `Entry`. What cannot be recalled is logged: without a credential nothing can be sent.
  func add(
    _ id: MessageID, of app: App, from: NumberSet? = nil, replaced: NumberSet? = nil, canSend: Bool = true
  ) {
    guard vendor.profile.abilities.contains(.recalls) else { return }
    guard canSend else { return reportFailure(id, "the app has no credential") }
    let now = seconds
    let entry = Entry(
      app: app, id: id, from: from, replaced: replaced, begunAt: now, due: now + Self.passes[0])
    let left = state.withLock { state -> MessageID? in
      let own = state.entries[app.id]
      guard own?[id] == nil else { return nil }
      var left: MessageID?
      if state.count >= Self.most {
        // One that has one more than this app would only change places with it.
        guard let other = state.newest(ofMoreThan: (own?.count ?? 0) + 1) else { return id }
        state.remove(other.app.id, other.id)
        left = other.id
      }
      state.entries[app.id, default: [:]][id] = entry
      state.count += 1
      return left
    }
    if let left { reportFailure(left, "too many recalls at a time") }
  }

  private func reportFailure(_ id: MessageID, _ reason: String) {
    parts.metrics.count("recall_dropped", of: vendor.info.name)
    parts.log.warning(
      "recall failed: a notification may stay on devices",
      ["channel": .text(vendor.info.name), "msg_id": .text(id.text), "reason": .text(reason)])
  }

  /// How many of an app are to be recalled.
  func count(of app: App) -> Int { state.withLock { $0.entries[app.id]?.count ?? 0 } }

  /// What sends for an app; nil if nothing can be sent now.
  typealias Sender = @Sendable (AppID) -> VendorDispatcher<V>?

  /// On the clock that nobody sets.
  private var seconds: Int64 { Int64(clamping: parts.time.monotonic() / 1_000_000_000) }

  /// Call once a second.
  func tick(_ sender: @escaping Sender) {
    let (over, due) = state.withLock { Self.popDue(from: &$0, at: seconds) }
    for entry in over { reportFailure(entry.id, "it was not recalled from all devices within ten minutes") }
    for entry in due { look(up: entry, sender) }
  }

  /// Removes those that are given up, and marks those that are to be looked up now as running; call `finish`
  /// for each of the latter.
  private static func popDue(from state: inout State, at now: Int64) -> (over: [Entry], due: [Entry]) {
    var (over, due): ([Entry], [Entry]) = ([], [])
    let apps = state.entries.map { app, entries in
      let idle = entries.values.filter { !$0.isRunning }
      return (app, idle, running: entries.count - idle.count)
    }
    for (app, idle, running) in apps.sorted(by: { $0.running < $1.running }) {
      for entry in idle where now > entry.begunAt + longest {
        over.append(entry)
        state.remove(app, entry.id)
      }
      let room = min(mostRunning - state.running, mostRunningOfApp - running)
      let next = idle.filter { $0.due <= now && now <= $0.begunAt + longest }
        .sorted { $0.due < $1.due }.prefix(max(0, room))
      for entry in next {
        state.change(app, entry.id) { $0.isRunning = true }
        state.running += 1
        due.append(entry)
      }
    }
    return (over, due)
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
    let (app, id, now) = (entry.app.id, entry.id, seconds)
    state.withLock { state in
      state.running -= 1
      var isOver = false
      state.change(app, id) { entry in
        entry.isRunning = false
        switch step {
        case .done(let numbers):
          entry.done.formUnion(NumberSet(numbers))
          entry.due = now
        case .failed: entry.due = now + Self.pause
        case .passed:
          entry.passes += 1
          isOver = entry.passes >= Self.passes.count
          if !isOver { entry.due = entry.begunAt + Self.passes[entry.passes] }
        }
      }
      if isOver { state.remove(app, id) }
    }
  }

  func forget(_ app: App) {
    state.withLock { state in
      guard let gone = state.entries.removeValue(forKey: app.id) else { return }
      state.count -= gone.count
    }
  }

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
      case .success(let found?): sendRecall(found, entry, sender)
      }
    }
  }

  private func sendRecall(_ found: Found, _ entry: Entry, _ sender: Sender) {
    guard !found.tokens.isEmpty else { return finish(entry, .done(found.numbers)) }
    guard let dispatcher = sender(entry.app.id) else { return finish(entry, .failed) }
    let recall = VendorRecall(push: entry.id, content: found.content, tokens: found.tokens)
    dispatcher.send(recall) { [self] isOver in finish(entry, isOver ? .done(found.numbers) : .failed) }
  }
}

extension VendorDispatcher {
  /// Recalls a notification from some devices; reports whether that is over, done or refused for good.
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
