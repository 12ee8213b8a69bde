import BorealisBase
import Model
import Storage

/// Audiences that the directory does not know of itself.
extension Acceptance {
  /// The devices that a push would go to if it were accepted now. `found` may be called on this thread.
  package func targets(
    of request: AcceptRequest, in app: App, found: @escaping @Sendable (Result<Recipients, APIError>) -> Void
  ) {
    let push = request.push
    find(push.audience, platforms: push.platforms, in: app, filesOf: app.key) { [self] result in
      found(result.map { admissible($0, request, in: app).recipients })
    }
  }

  /// Resolves an audience; empty when no device matches. `owner` owns the files. `found` is called on this
  /// thread, or on a reader's if the database is needed.
  func find(
    _ audience: Audience, platforms: PlatformSet, in app: App, filesOf owner: AppKey,
    found: @escaping @Sendable (Result<Recipients, APIError>) -> Void
  ) {
    switch audience {
    case .filter(let filter):
      segments.find(filter, platforms: platforms, in: app) { found($0.mapError(\.apiError)) }
    case .all: found(.success(app.directory.resolve(.all, platforms: platforms) ?? .few([])))
    case .file(let file):
      find(file: file, of: owner.text, in: app, platforms: platforms, found)
    case .testDevices(let audience):
      find(audience, platforms: platforms, in: app, filesOf: owner) { [self] result in
        guard case .success(let recipients) = result else { return found(result) }
        testDevices(of: app) { found($0.map { recipients.intersection($0) }) }
      }
    }
  }

  private func testDevices(
    of app: App, found: @escaping @Sendable (Result<NumberSet, APIError>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      try transaction.testDevices.list(app: app.id, limit: TestDevices.most).rows
    } completion: { result in
      guard case .success(let rows) = result else { return found(.failure(.timeout)) }
      let ids = rows.compactMap { RegistrationID($0.registrationID) }
      found(.success(NumberSet(ids.compactMap { app.directory.find($0) })))
    }
  }

  /// The registrations that a file names now, on a reader's thread, a piece at a time: others have their turn
  /// in between.
  private func find(
    file fileID: String, of owner: String, in app: App, platforms: PlatformSet,
    _ found: @escaping @Sendable (Result<Recipients, APIError>) -> Void
  ) {
    files.find(fileID, of: owner) { [self] result in
      switch result {
      case .failure: found(.failure(.timeout))
      case .success(nil): found(.failure(.invalidValue("audience.file.file_id is unknown")))
      case .success(let file?):
        find(FileSearch(file: file, directory: app.directory, platforms: platforms), in: app.id, found)
      }
    }
  }

  private func find(
    _ search: FileSearch, in app: AppID, _ found: @escaping @Sendable (Result<Recipients, APIError>) -> Void
  ) {
    guard search.next < search.file.pieces else {
      found(.success(search.recipients))
      return
    }
    store.read(inTurnOf: app) { transaction throws(StorageError) in
      try transaction.files.piece(search.file.id, search.next)
    } completion: { [self] result in
      switch result {
      case .failure: found(.failure(.timeout))
      // It ended in the meantime, and was deleted.
      case .success(nil): found(.failure(.invalidValue("audience.file.file_id is unknown")))
      case .success(let lines?):
        var search = search
        search.resolve(lines)
        find(search, in: app, found)
      }
    }
  }
}

/// Looks for the registrations that a file names.
private struct FileSearch: Sendable {
  let file: FileRow
  let directory: AppDirectory
  let platforms: PlatformSet
  /// The next piece to look at.
  var next = 0
  private var numbers = NumberSet()

  init(file: FileRow, directory: AppDirectory, platforms: PlatformSet) {
    self.file = file
    self.directory = directory
    self.platforms = platforms
  }

  /// Values that are looked up before the directory's lock is let go.
  private static let slice = 256

  var recipients: Recipients { Recipients(numbers) }

  /// Looks up the values of the next piece.
  mutating func resolve(_ lines: [UInt8]) {
    next += 1
    var names: [String] = []
    names.reserveCapacity(Self.slice)
    for line in lines.split(separator: 10) {
      names.append(String(decoding: line, as: UTF8.self))
      if names.count == Self.slice { look(up: &names) }
    }
    look(up: &names)
  }

  private mutating func look(up names: inout [String]) {
    guard !names.isEmpty else { return }
    let filter =
      switch file.kind {
      case .aliases: AudienceFilter(aliases: names)
      case .registrationIDs: AudienceFilter(registrationIDs: names)
      }
    numbers.formUnion(directory.resolve(filter, platforms: platforms).numbers)
    names.removeAll(keepingCapacity: true)
  }
}
