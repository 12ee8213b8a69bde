import PushBase

/// Credentials that must not be used from now on, whatever the database says, until it says so too.
public struct CredentialPauses<ID: Hashable & Sendable>: Sendable {
  /// A pause that the database may not have.
  public struct Pause: Sendable {
    /// The credential.
    public let id: ID
    /// Its app.
    public let app: AppID
    /// Why, for people.
    public let reason: String
    /// When it began.
    public let at: Timestamp
    fileprivate var phase = Phase.unsaved
  }

  fileprivate enum Phase: Sendable {
    case unsaved
    case saving
    /// Stored; reads of the database up to this number may have begun before.
    case saved(lastRead: Int)
  }

  private var pauses: [ID: Pause] = [:]

  /// None.
  public init() {}

  /// The pause of a credential.
  public subscript(id: ID) -> Pause? { pauses[id] }

  /// Pauses a credential. The reason is one that the database takes.
  public mutating func add(_ id: ID, of app: AppID, _ reason: String, at now: Timestamp) {
    pauses[id] = Pause(id: id, app: app, reason: reason, at: now)
  }

  /// Those to be stored now.
  public mutating func takeUnsaved() -> [Pause] {
    let unsaved = pauses.values.filter { if case .unsaved = $0.phase { true } else { false } }
    for pause in unsaved { pauses[pause.id]?.phase = .saving }
    return unsaved
  }

  /// Records whether these were stored, when so many reads had begun.
  public mutating func endSaving(_ saved: [Pause], succeeded: Bool, reads: Int) {
    for pause in saved { pauses[pause.id]?.phase = succeeded ? .saved(lastRead: reads) : .unsaved }
  }

  /// Forgets those of credentials that are gone, and those stored before a read began: somebody may have resumed the credential since.
  public mutating func forget(read: Int, isKnown: (Pause) -> Bool) {
    pauses = pauses.filter { _, pause in
      if case .saved(let last) = pause.phase, read > last { return false }
      return isKnown(pause)
    }
  }
}

extension String {
  /// Why a credential is paused, as the database takes it: at most 500 bytes.
  public init(pauseReason reason: String) {
    self = reason.isEmpty ? "no reason given" : reason
    while utf8.count > 500 { removeLast() }
  }
}
