import PushBase
import PushDomain
import PushStorage

/// How a push stands.
public struct PushReport: Sendable {
  /// Its ID.
  public let id: MessageID
  /// When it was accepted, and when it ends.
  public let createdAt, expiresAt: Timestamp
  /// Whose rules chose the channels.
  public let strategy: Strategy
  /// Members of its audience, as they were counted when it was accepted.
  public let audience: Int
  /// How its way over our connection ended, or over Apple's if it had none; `open` as long as it has not.
  public let status: OutcomeStatus
  /// When that was; nil as long as it is open.
  public let endedAt: Timestamp?
  /// When its only target showed it, and when the user tapped it; nil until then, and of a push to several.
  public let shownAt, tappedAt: Timestamp?
  /// What has become of it for each target.
  public let targets: PushTargets
  /// What it has for iOS, and for the other platforms.
  public let iosParts, otherParts: PushParts
  /// Who is connected now.
  let online: NumberSet

  init?(_ rows: TargetRows, at now: Timestamp, online: NumberSet) {
    self.online = online
    guard let targets = PushTargets(rows, at: now) else { return nil }
    let push = rows.push
    id = push.id
    (createdAt, expiresAt) = (push.createdAt, push.expiresAt)
    strategy = Strategy(number: push.strategy) ?? .jpush
    audience = Int(push.targetCount)
    status = rows.outcome?.status ?? .open
    endedAt = status == .open ? nil : rows.outcome?.at
    (shownAt, tappedAt) = (rows.outcome?.shownAt, rows.outcome?.tappedAt)
    self.targets = targets
    let content = PushContent(decoding: push.content)
    iosParts = content?.parts(for: .ios) ?? []
    otherParts = content.map { $0.parts(for: .android).union($0.parts(for: .hmos)) } ?? []
  }
}

extension Router {
  /// How a push of an app stands, by what is stored: figures are up to a second late. Nil if it is unknown, another
  /// app's, or swept.
  public func report(
    on id: MessageID, in app: App, reply: @escaping @Sendable (Result<PushReport?, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.read { [log] transaction throws(StorageError) -> PushReport? in
      guard let rows = try transaction.targets(of: id), rows.push.app == app.id else { return nil }
      guard let report = PushReport(rows, at: now, online: app.directory.online) else {
        log.error("stored audience is unreadable", ["msg_id": .text(id.text)])
        throw StorageError(.corrupt, "a stored set is unreadable")
      }
      return report
    } completion: { result in
      reply(result.mapError { _ in .unavailable })
    }
  }

  /// How some pushes of an app stand, in their order: one read after the other, so that what else waits for a reader does
  /// not wait for all of them.
  public func reports(
    on ids: [MessageID], in app: App,
    reply: @escaping @Sendable (Result<[PushReport?], DeviceFailure>) -> Void
  ) {
    report(on: ids[...], after: [], in: app, reply: reply)
  }

  private func report(
    on ids: ArraySlice<MessageID>, after known: [PushReport?], in app: App,
    reply: @escaping @Sendable (Result<[PushReport?], DeviceFailure>) -> Void
  ) {
    guard let id = ids.first else {
      reply(.success(known))
      return
    }
    report(on: id, in: app) { [self] result in
      switch result {
      case .failure(let failure): reply(.failure(failure))
      case .success(let found): report(on: ids.dropFirst(), after: known + [found], in: app, reply: reply)
      }
    }
  }
}
