import BorealisBase
import Storage

/// What a look at an app changes about its incidents.
struct IncidentChanges {
  /// Seconds after its end in which an incident goes on if the trouble comes again.
  static let settling: Int64 = 300

  /// Troubles that are new incidents.
  private(set) var begun: [AppTrouble] = []
  /// Incidents that go on after their end.
  private(set) var resumed: [IncidentRow] = []
  /// Incidents that are over.
  private(set) var ended: [IncidentRow] = []
  /// Incidents that were over for so long that they do not go on.
  private(set) var settled: [IncidentRow] = []

  /// Compares the unsettled incidents of an app with its troubles. `isObserved` says whether it was seen that
  /// an incident's trouble is gone; after a start of the server, nothing may be known of it yet.
  init(
    of incidents: [IncidentRow], _ troubles: [AppTrouble], isObserved: (IncidentRow) -> Bool,
    at now: Timestamp
  ) {
    var noted: [TroubleIdentity: IncidentRow] = [:]
    for incident in incidents { noted[incident.identity] = incident }
    var present: Set<TroubleIdentity> = []
    for trouble in troubles where present.insert(trouble.identity).inserted {
      guard let incident = noted[trouble.identity] else {
        begun.append(trouble)
        continue
      }
      if incident.endedAt != nil { resumed.append(incident) }
    }
    for incident in incidents where !present.contains(incident.identity) {
      if let end = incident.endedAt {
        if end.adding(seconds: Self.settling) <= now { settled.append(incident) }
      } else if isObserved(incident) {
        ended.append(incident)
      }
    }
  }

  var isEmpty: Bool { begun.isEmpty && resumed.isEmpty && ended.isEmpty && settled.isEmpty }
}
