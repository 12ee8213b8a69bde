import PushBase
import PushDomain
import PushStorage

extension Router {
  /// The audience of a request now; empty when nobody matches. `found` is called on this thread, or on a reader's if the
  /// database has to be asked.
  func resolve(
    _ request: AcceptRequest, in app: App, owner: AppKey? = nil,
    found: @escaping @Sendable (Result<Recipients, APIError>) -> Void
  ) {
    guard !request.isForTestDevices else {
      var others = request
      others.isForTestDevices = false
      resolve(others, in: app, owner: owner) { [self] result in
        guard case .success(let audience) = result else { return found(result) }
        testDevices(of: app) { found($0.map { audience.intersection($0) }) }
      }
      return
    }
    if let file = request.file {
      let owner = owner ?? app.key
      resolve(file: file, of: owner.text, for: app, platforms: request.platforms, found: found)
    } else {
      found(.success(app.directory.resolve(request.terms, platforms: request.platforms)))
    }
  }

  /// Devices for tests of one app.
  public static var maximumTestDevices: Int { 1000 }

  private func testDevices(
    of app: App, found: @escaping @Sendable (Result<NumberSet, APIError>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      try transaction.testDevices(app: app.id, limit: Self.maximumTestDevices).rows
    } completion: { result in
      guard case .success(let rows) = result else { return found(.failure(.timeout)) }
      let ids = rows.compactMap { RegistrationID($0.registrationID) }
      found(.success(NumberSet(ids.compactMap { app.directory.find($0) })))
    }
  }
}
