import BorealisBase
import Dispatch
import Glibc
import Storage

/// An open database in a folder of its own. It is closed when this object goes, and so is the folder.
package final class TestDatabase: Sendable {
  /// Where it lies, and what else a test wants to keep beside it.
  package let folder: TemporaryFolder
  /// The database.
  package let store: Store

  /// How it is opened. With `BOREALIS_TEST_WRITES=twice` whatever is written is written, undone, and written
  /// again.
  package static var options: Store.Options {
    var options = Store.Options()
    options.rehearses = getenv("BOREALIS_TEST_WRITES").map { String(cString: $0) } == "twice"
    return options
  }

  /// A new database, or the one that lies in a folder already. `open` opens it in another way than usual.
  package init(
    in folder: TemporaryFolder = TemporaryFolder(), readers: Int = 2,
    open: ((Store.Location) throws -> Store)? = nil
  ) throws {
    self.folder = folder
    let location = try folder.store()
    if case .sqlite(let path) = location, !folder.names.contains("test.sqlite") {
      try TemporaryFolder.write(try Self.new.get(), to: path)
    }
    store = try open?(location) ?? Store.open(location, readers: readers, log: .silent, options: Self.options)
  }

  deinit {
    // A completion may hold on to what its test has let go. None of the store's own threads can wait for its
    // end.
    guard TemporaryFolder.read("/proc/thread-self/comm").hasPrefix("db-") else { return store.close() }
    DispatchQueue.global().async { [store, folder] in
      store.close()
      withExtendedLifetime(folder) {}
    }
  }

  /// A database with nothing in it. To copy it is much quicker than to make one.
  private static let new = Result<[UInt8], any Error> {
    let folder = TemporaryFolder()
    try Store.make(path: folder.database)
    return TemporaryFolder.bytes(folder.database)
  }
}
