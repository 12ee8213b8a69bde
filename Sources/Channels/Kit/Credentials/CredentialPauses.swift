import BorealisBase

/// Credentials that must not be used from now on, whatever the database says, until it says so too.
package struct CredentialPauses<ID: Hashable & Sendable>: Sendable {
  /// A pause that the database may not have.
  package struct Pause: Sendable {
    /// The credential.
    package let id: ID
    package let app: AppID
    /// Why, for people.
    package let reason: String
    /// When it began.
    package let at: Timestamp
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
  package init() {}

  /// The pause of a credential.
  package subscript(id: ID) -> Pause? { pauses[id] }

  /// Pauses a credential. The reason is one that the database takes.
  package mutating func add(_ id: ID, of app: AppID, _ reason: String, at now: Timestamp) {
    pauses[id] = Pause(id: id, app: app, reason: reason, at: now)
  }

  /// Marks those that are not stored yet as being stored, and returns them.
  package mutating func beginSaving() -> [Pause] {
    let unsaved = pauses.values.filter { if case .unsaved = $0.phase { true } else { false } }
    for pause in unsaved { pauses[pause.id]?.phase = .saving }
    return unsaved
  }

  /// Records whether these were stored, when so many reads had begun.
  package mutating func endSaving(_ saved: [Pause], succeeded: Bool, reads: Int) {
    for pause in saved { pauses[pause.id]?.phase = succeeded ? .saved(lastRead: reads) : .unsaved }
  }

  /// Forgets those of credentials that are gone, and those stored before a read began: somebody may have
  /// resumed the credential since.
  package mutating func forget(read: Int, isKnown: (Pause) -> Bool) {
    pauses = pauses.filter { _, pause in
      if case .saved(let last) = pause.phase, read > last { return false }
      return isKnown(pause)
    }
  }
}

extension String {
  /// Why a credential is paused, as the database takes it: at most 500 bytes.
  package init(pauseReason reason: String) {
    self = reason.isEmpty ? "no reason given" : reason
    while utf8.count > 500 { removeLast() }
  }
}
