import BorealisBase
import Model
import Storage

/// Facts of devices: what devices report, and which facts apps ask for.
package struct DeviceFacts: Sendable {
  /// Rows that one step of an erasure looks at.
  private static let rowsInStep = 500

  let store: Store

  /// Stores what a device reports. Facts that its app does not ask for are left out, and what is known
  /// already costs the database nothing.
  package func set(
    _ reported: [DeviceFact: String], of number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    let known = app.directory.facts(of: number)
    let wanted = app.facts
    let changed = reported.filter { wanted.contains($0.key) && known[$0.key, default: ""] != $0.value }
    guard !changed.isEmpty else { return reply(.success(())) }
    store.write(of: app.id) { transaction throws(StorageError) in
      try transaction.facts.set(
        app: app.id, number: number, changed, making: app.directory.factRoom())
    } completion: { result in
      switch result {
      case .failure: reply(.failure(.unavailable))
      case .success(nil): reply(.failure(.unknownRegistration))
      case .success(let change?):
        app.directory.apply(change, of: number)
        reply(.success(()))
      }
    }
  }

  /// Removes what is left of erased facts from some of an app's rows.
  func eraseStep(_ app: App) {
    guard app.beginErasingFacts() else { return }
    store.write(of: app.id, lowPriority: true) { transaction throws(StorageError) in
      try transaction.facts.erase(app: app.id, limit: Self.rowsInStep)
    } completion: {
      app.endErasingFacts(isComplete: (try? $0.get()) ?? false)
    }
  }
}

extension Apps {
  /// Sets which facts an app asks its devices for. All others are erased: what they say at once, and the
  /// numbers in the registrations' rows in steps.
  package func setFacts(
    _ facts: DeviceFactSet, of app: App, noting entry: AuditRow,
    done: @escaping @Sendable (Result<Void, AppFailure>) -> Void
  ) {
    set(
      \.facts, to: facts, of: app, noting: entry,
      { transaction throws(StorageError) in try transaction.facts.want(app: app.id, facts) }, done: done)
  }
}

extension AppDirectory {
  /// What a device has reported, of the facts that its app asks for.
  package func facts(of number: RegistrationNumber) -> [DeviceFact: String] {
    state.withLock { $0.table.facts.facts(of: number) }
  }

  /// How many registrations have each value of a fact.
  package func factCounts(_ fact: DeviceFact) -> [String: Int] {
    state.withLock { $0.table.facts.columns[fact] }?.counts ?? [:]
  }

  /// Those of some registrations whose devices show no notifications, by what they have reported: the system
  /// does not let them, or the user has opted out.
  func notificationsOff(among recipients: Recipients) -> NumberSet {
    reporting([(.notificationPermission, "off"), (.optedOut, "yes")], among: recipients)
  }

  /// Those of some registrations who get a push over our connection alone, since it is an in-app message and
  /// their system does not let the app show notifications. Imported devices that have not come yet get
  /// nothing over the connection.
  func onlyInApp(_ content: PushContent, among recipients: Recipients) -> NumberSet {
    guard content.isInApp else { return NumberSet() }
    return reporting([(.notificationPermission, "off")], among: recipients).subtracting(awaited)
  }

  /// Those whose devices have reported one of some values.
  private func reporting(
    _ values: [(fact: DeviceFact, value: String)], among recipients: Recipients
  ) -> NumberSet {
    switch recipients {
    case .many(let set):
      let (facts, end) = state.withLock { ($0.table.facts, $0.table.records.count) }
      let condition: DeviceCondition = .any(values.map { .compare($0.fact, .equal, $0.value) })
      var search = ConditionSearch(condition, in: facts) { _ in .set(NumberSet()) }
      return search.numbers(below: end).intersection(set)
    case .few(let numbers):
      return state.withLock { state in
        NumberSet(
          numbers.filter {
            let facts = state.table.facts.facts(of: $0)
            return values.contains { facts[$0.fact] == $0.value }
          })
      }
    }
  }

  /// Those of some values of facts that nobody has.
  func unusedFacts(among numbers: [UInt32]) -> [UInt32] {
    state.withLock { $0.table.facts.unused(among: numbers) }
  }

  func factRoom() -> FactRoom { state.withLock { $0.table.facts.room() } }

  func define(_ value: FactValue) { state.withLock { $0.table.facts.define(value) } }

  func apply(_ change: FactChange, of number: RegistrationNumber) {
    state.withLock { state in
      state.table.facts.apply(change, of: state.table.isActive(number) ? number : nil)
    }
  }

  func keepFacts(_ wanted: DeviceFactSet) { state.withLock { $0.table.facts.keep(wanted) } }
}
