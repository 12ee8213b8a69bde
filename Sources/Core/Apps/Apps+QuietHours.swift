import BorealisBase
import Model
import Storage

extension QuietHours {
  /// For the audit log.
  package var text: String { "\(Self.text(from)) to \(Self.text(until)), \(action.rawValue)" }
}

extension Apps {
  /// Sets the quiet hours of an app, nil for none. Pushes that wait for the end of others go on waiting.
  package func setQuietHours(
    _ hours: QuietHours?, of app: App, noting entry: AuditRow,
    done: @escaping @Sendable (Result<Void, AppFailure>) -> Void
  ) {
    set(
      \.quietHours, to: hours, of: app, noting: entry,
      { transaction throws(StorageError) in try transaction.apps.setQuietHours(app: app.id, hours) },
      done: done)
  }
}
