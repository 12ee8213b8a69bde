import BorealisBase
import Model
import Storage
import Synchronization

/// Why a file could not be stored.
package enum FileFailure: Error, Sendable {
  /// The app has as many as it may.
  case tooMany
  /// The store cannot take it now; try again later.
  case unavailable
}

/// Files with audiences that apps upload.
package final class Files: Sendable {
  private let store: Store
  private let scope: HomeScope
  private let time: any TimeSource
  private let isSweeping = Atomic<Bool>(false)
  /// The public names of files that are being stored. What else is begun and not complete was left behind by
  /// a failure or a crash.
  private let uploads = Mutex<Set<String>>([])

  init(store: Store, scope: HomeScope, time: any TimeSource) {
    self.store = store
    self.scope = scope
    self.time = time
  }

  /// The most files of an app that have not ended.
  static var maximumFiles: Int { 20 }
  /// Seconds after which a file that was begun and not completed is given up.
  private static var uploadSeconds: Int64 { 3600 }
  /// Pieces that one step of the sweep deletes.
  private static var sweptPieces: Int { 4 }

  // MARK: Storing

  /// Stores a file, a piece with each commit, so that other work comes in between. A file that cannot be
  /// stored to its end takes no place.
  package func store(
    _ file: NewFile, for seconds: Int64, reply: @escaping @Sendable (FileFailure?) -> Void
  ) {
    let now = time.now()
    uploads.withLock { _ = $0.insert(file.fileID) }
    store.write { [self] transaction throws(StorageError) in
      try transaction.files.begin(
        file, limit: Self.maximumFiles, underWay: uploads.withLock { $0 }, at: now,
        expiresAt: now.adding(seconds: seconds))
    } completion: { [self] result in
      switch result {
      case .failure: finish(file, nil, .unavailable, reply)
      case .success(nil): finish(file, nil, .tooMany, reply)
      case .success(let id?): storePiece(0, of: file, id, reply)
      }
    }
  }

  private func storePiece(
    _ number: Int, of file: NewFile, _ id: Int64, _ reply: @escaping @Sendable (FileFailure?) -> Void
  ) {
    let isLast = number + 1 >= file.pieces.count
    let now = time.now()
    store.write { transaction throws(StorageError) in
      try transaction.files.addPiece(id, number: number, lines: file.pieces[number])
      if isLast { try transaction.files.complete(id, at: now) }
    } completion: { [self] result in
      switch result {
      case .failure: finish(file, id, .unavailable, reply)
      case .success where isLast: finish(file, id, nil, reply)
      case .success: storePiece(number + 1, of: file, id, reply)
      }
    }
  }

  /// The storing of a file has come to its end, which may be a failure; of one that was begun its part is
  /// given up then.
  private func finish(
    _ file: NewFile, _ id: Int64?, _ failure: FileFailure?, _ reply: @Sendable (FileFailure?) -> Void
  ) {
    uploads.withLock { _ = $0.remove(file.fileID) }
    reply(failure)
    guard let id, failure != nil else { return }
    let now = time.now()
    store.write { transaction throws(StorageError) in
      try transaction.files.giveUp(id, at: now)
    } completion: { _ in
      // What cannot be stored now, the next upload of the owner or the sweep does.
    }
  }

  // MARK: Looking up

  /// An app's files that have not ended, the oldest first.
  package func list(
    of owner: String, reply: @escaping @Sendable (Result<[FileRow], DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.read { transaction throws(StorageError) in
      try transaction.files.all(owner: owner, at: now)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// One of an app's files, nil if it has none of that name or if it has ended.
  package func find(
    _ fileID: String, of owner: String, reply: @escaping @Sendable (Result<FileRow?, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.read { transaction throws(StorageError) in
      try transaction.files.find(owner: owner, fileID, at: now)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  /// Ends a file; that it is not there is no failure.
  package func end(
    _ fileID: String, of owner: String, reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.write(single: true) { transaction throws(StorageError) in
      try transaction.files.end(owner: owner, fileID, at: now)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  // MARK: Housekeeping

  /// Starts to delete the files that have ended, unless that is under way.
  func sweep(at now: Timestamp) {
    guard !isSweeping.exchange(true, ordering: .relaxed) else { return }
    sweepStep(at: now)
  }

  /// One step; the next is queued behind waiting pushes.
  private func sweepStep(at now: Timestamp) {
    store.write { [rows = scope.rows] transaction throws(StorageError) in
      try transaction.files.sweep(
        endedBefore: now, begunBefore: now.adding(seconds: -Self.uploadSeconds), limit: Self.sweptPieces,
        in: rows)
    } completion: { [self] result in
      if case .success(true) = result {
        sweepStep(at: now)
      } else {
        isSweeping.store(false, ordering: .relaxed)
      }
    }
  }
}
