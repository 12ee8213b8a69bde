import Glibc
import PushBase

extension Store {
  /// Why the last commits failed, if an operator has to act; nil without a problem. It ends when `probe` finds that the
  /// database can be written again; damage stays until the store is opened again.
  public var failure: StorageError.Kind? { statistics.failure }

  /// Free space that ends the state of a full disk: with less, the next push to many would fail again.
  private static let roomNeeded = 1 << 20

  /// After a failed commit: tries whether the database can be written again. Call it from time to time, as there may be
  /// no other work that would show it.
  public func probe() {
    guard let failure, failure != .corrupt else { return }
    write { [location] transaction throws(StorageError) in
      switch location {
      case .sqlite(let path): try Self.findRoom(beside: path)
      }
      try transaction.rewriteFirstMigration()
    } completion: { [weak self] result in
      if case .success = result { self?.noteGoodProbe() }
    }
  }

  /// Writes an unnamed temporary file: free space alone would not show quotas.
  private static func findRoom(beside path: String) throws(StorageError) {
    let name = path + "-probe"
    let descriptor = Glibc.open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw StorageError(errno == EROFS ? .readOnly : .io, "cannot make a file (errno \(errno))")
    }
    defer { Glibc.close(descriptor) }
    unlink(name)
    let zeros = [UInt8](repeating: 0, count: 64 * 1024)
    for offset in stride(from: 0, to: roomNeeded, by: zeros.count)
    where pwrite(descriptor, zeros, zeros.count, off_t(offset)) != zeros.count {
      throw StorageError(.diskFull, "there is no room yet")
    }
  }
}

extension StorageError.Kind {
  /// Whether commits keep failing until an operator, or the disk, changes something.
  var isStoreFailure: Bool {
    switch self {
    case .diskFull, .readOnly, .io, .corrupt: true
    default: false
    }
  }

  /// For people, without a path.
  public var explanation: String {
    switch self {
    case .diskFull: "the disk is full"
    case .readOnly: "the database cannot be written"
    case .corrupt: "the database is damaged"
    default: "writing to the database fails"
    }
  }
}

extension WriteTransaction {
  /// Changes nothing, and writes a page all the same.
  fileprivate func rewriteFirstMigration() throws(StorageError) {
    try database.run("UPDATE schema_migration SET name = name WHERE version = 1")
  }
}
