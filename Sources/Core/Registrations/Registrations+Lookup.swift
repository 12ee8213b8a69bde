import BorealisBase
import Storage

extension Registrations {
  /// The aliases of some registrations that have one.
  package func aliases(
    of numbers: [RegistrationNumber], in app: App
  ) async -> Result<[RegistrationNumber: String], StorageError> {
    await store.read { transaction throws(StorageError) in
      var aliases: [RegistrationNumber: String] = [:]
      for number in numbers {
        aliases[number] = try transaction.registrations.find(app: app.id, number: number)?.alias
      }
      return aliases
    }
  }

  /// Replaced registrations of an app, by number.
  package func gone(
    in app: App, from first: RegistrationNumber, through last: RegistrationNumber
  ) async -> Result<[GoneRegistration], StorageError> {
    await store.read(inTurnOf: app.id) { transaction throws(StorageError) in
      try transaction.registrations.gone(of: app.id, from: first, through: last)
    }
  }
}
