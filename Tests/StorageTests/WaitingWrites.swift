import BorealisBase
import Glibc
import PushTesting

@testable import Storage

/// What comes up within a minute, looked for again and again.
func eventually<Value>(_ body: () throws -> Value?) throws -> Value {
  for _ in 0..<6000 {
    if let value = try body() { return value }
    usleep(10_000)
  }
  throw StorageError(.other, "it never came")
}

extension Store {
  /// A job that writes a push and notes how it ended.
  func addNoting(_ id: UInt64, app: AppID) -> Journal<StorageError.Kind?> {
    let journal = Journal<StorageError.Kind?>()
    write { transaction throws(StorageError) in
      try transaction.pushes.insert(.single(id, app: app, target: 0))
    } completion: { result in
      if case .failure(let error) = result { journal.add(error.kind) } else { journal.add(nil) }
    }
    return journal
  }
}
