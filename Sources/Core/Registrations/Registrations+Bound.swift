import BorealisBase
import Storage
import Synchronization

/// How many registrations apps may have.
extension Registrations {
  /// How many an app may have.
  func most(in app: App) -> Int { min(mostInApp, app.plan.registrations ?? .max) }

  /// Says in the log, at most once a minute, that an app gets no more registrations.
  func noteIfFull(_ app: App, at now: Timestamp) {
    let most = self.most(in: app)
    guard app.directory.registrationCount >= most,
      fullMinute.exchange(now.seconds / 60, ordering: .relaxed) != now.seconds / 60
    else { return }
    log.warning(
      "registration limit of an app reached: new devices are refused",
      ["app": .text(app.key.text), "registrations": .number(Int64(clamping: most))])
  }
}
