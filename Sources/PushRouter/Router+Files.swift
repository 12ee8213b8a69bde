import PushBase
import PushDomain
import PushStorage

/// Why a file could not be stored.
public enum FileFailure: Error, Sendable {
  /// The app has as many as it may.
  case tooMany
  /// The store cannot take it now; try again later.
  case unavailable
}

extension Router {
  /// The most files of an app that have not ended.
  static var maximumFiles: Int { 20 }
  /// Seconds after which a file that was begun and not completed is given up.
  private static var uploadSeconds: Int64 { 3600 }
  /// Pieces that one step of the sweep deletes.
  private static var sweptPieces: Int { 4 }

  // MARK: Storing

  /// Stores a file, a piece with each commit, so that other work comes in between.
  public func store(
    _ file: NewFile, for seconds: Int64, reply: @escaping @Sendable (FileFailure?) -> Void
  ) {
    let now = time.now()
    store.write { transaction throws(StorageError) in
      try transaction.beginFile(
        file, limit: Self.maximumFiles, at: now, expiresAt: now.adding(seconds: seconds))
    } completion: { [self] result in
      switch result {
      case .failure: reply(.unavailable)
      case .success(nil): reply(.tooMany)
      case .success(let id?): storePiece(0, of: file, id, reply)
      }
    }
  }

  private func storePiece(
    _ number: Int, of file: NewFile, _ id: Int64, _ reply: @escaping @Sendable (FileFailure?) -> Void
  ) {
    let isLast = number + 1 >= file.pieces.count
    store.write { transaction throws(StorageError) in
      try transaction.addFilePiece(id, number: number, lines: file.pieces[number])
      if isLast { try transaction.completeFile(id) }
    } completion: { [self] result in
      switch result {
      case .failure: reply(.unavailable)
      case .success where isLast: reply(nil)
      case .success: storePiece(number + 1, of: file, id, reply)
      }
    }
  }

  // MARK: Looking up

  /// An app's files that have not ended, the oldest first.
  public func files(
    of owner: String, reply: @escaping @Sendable (Result<[FileRow], DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.read { transaction throws(StorageError) in
      try transaction.files(owner: owner, at: now)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// One of an app's files, nil if it has none of that name or if it has ended.
  public func file(
    _ fileID: String, of owner: String, reply: @escaping @Sendable (Result<FileRow?, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.read { transaction throws(StorageError) in
      try transaction.file(owner: owner, fileID, at: now)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// Ends a file; that it is not there is no failure.
  public func endFile(
    _ fileID: String, of owner: String, reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.write(single: true) { transaction throws(StorageError) in
      try transaction.endFile(owner: owner, fileID, at: now)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  // MARK: Resolving

  /// The registrations that a file names now, on a reader's thread, a piece at a time: others read in between.
  func resolve(
    file fileID: String, of owner: String, for app: App, platforms: PlatformSet,
    found: @escaping @Sendable (Result<Recipients, APIError>) -> Void
  ) {
    file(fileID, of: owner) { [self] result in
      switch result {
      case .failure: found(.failure(.timeout))
      case .success(nil): found(.failure(.invalidValue("audience.file.file_id is unknown")))
      case .success(let file?):
        let search = FileSearch(file: file, directory: app.directory, platforms: platforms)
        resolve(search, found)
      }
    }
  }

  private func resolve(
    _ search: FileSearch, _ found: @escaping @Sendable (Result<Recipients, APIError>) -> Void
  ) {
    guard search.next < search.file.pieces else {
      found(.success(search.recipients))
      return
    }
    store.read { transaction throws(StorageError) in
      try transaction.filePiece(search.file.id, search.next)
    } completion: { [self] result in
      switch result {
      case .failure: found(.failure(.timeout))
      // It ended meanwhile, and was swept.
      case .success(nil): found(.failure(.invalidValue("audience.file.file_id is unknown")))
      case .success(let lines?):
        var search = search
        search.take(lines)
        resolve(search, found)
      }
    }
  }

  // MARK: Housekeeping

  /// Starts to delete the files that have ended, unless that is under way.
  func sweepFiles(at now: Timestamp) {
    guard housekeeping.beginFileSweep() else { return }
    sweepFileStep(at: now)
  }

  /// One step, and the next behind the pushes that wait meanwhile.
  private func sweepFileStep(at now: Timestamp) {
    store.write { transaction throws(StorageError) in
      try transaction.sweepFiles(
        endedBefore: now, begunBefore: now.adding(seconds: -Self.uploadSeconds), limit: Self.sweptPieces)
    } completion: { [self] result in
      if case .success(true) = result { sweepFileStep(at: now) } else { housekeeping.endFileSweep() }
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

  /// Looks for the values of the next piece.
  mutating func take(_ lines: [UInt8]) {
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
    var terms = AudienceTerms()
    switch file.kind {
    case .aliases: terms.aliases = names
    case .registrationIDs:
      terms.registrationIDs = names.compactMap { RegistrationID($0) }
      terms.namesRegistrations = true
    }
    numbers.formUnion(directory.resolve(terms, platforms: platforms).numbers)
    names.removeAll(keepingCapacity: true)
  }
}
