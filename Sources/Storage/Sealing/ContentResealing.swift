import BorealisBase

/// Seals contents anew with the first key of the file, in steps that hold up nobody: other processes may
/// write between any two of them, and what they change meanwhile is left as they left it. An interrupted pass
/// is repeated.
package struct ContentResealing {
  /// Bytes after which a step takes no more contents: one of a megabyte is a step of its own.
  static let bytes = 1 << 20

  /// Contents in one step.
  var rows = 1000

  private let store: Store
  private let key: [UInt8]
  private var place = SealedContentPlace()
  /// How many contents were sealed anew.
  package private(set) var resealed = 0
  /// How many could not be opened with the key that they name, and are left as they are.
  package private(set) var damaged = 0

  /// Begins: whatever any process seals from here on is sealed with that key. Nil if no content was ever
  /// sealed. Blocks, as all of this does.
  package init?(_ store: Store) throws(StorageError) {
    let key = try Store.wait { done in
      store.write({ t throws(StorageError) in try t.sealing.useFirstKey() }, completion: done)
    }
    guard let key else { return nil }
    (self.store, self.key) = (store, key)
  }

  /// What one step read and sealed; it is not stored before `store`.
  package struct Step: Sendable {
    let contents: [ResealedContent]
    /// How many could not be opened.
    let damaged: Int

    /// Bytes that storing it writes.
    var size: Int { contents.reduce(0) { $0 + $1.sealed.count } }
  }

  /// Reads and seals the next contents, outside of any transaction that writes. Nil after the last.
  package mutating func next() throws(StorageError) -> Step? {
    let (start, key, rows) = (place, key, rows)
    guard !start.isEnd else { return nil }
    let (step, end) = try store.wait { t throws(StorageError) in
      var place = start
      let found = try t.sealing.contents(
        .without(key), behind: &place, limit: rows, bytes: Self.bytes)
      let sealed = try t.sealing.resealed(found, with: key)
      return (Step(contents: sealed, damaged: found.count - sealed.count), place)
    }
    place = end
    return step
  }

  /// Stores what a step has sealed, as far as nobody has changed it since.
  package mutating func store(_ step: Step) throws(StorageError) {
    let key = key
    if !step.contents.isEmpty {
      try Store.wait { [store] done in
        store.write(
          { t throws(StorageError) in try t.sealing.replace(step.contents, sealedWith: key) },
          completion: done)
      }
    }
    resealed += step.contents.count
    damaged += step.damaged
  }

  /// Forgets the keys before, once all steps are stored: nothing needs them.
  package func finish() throws(StorageError) {
    let key = key
    try Store.wait { [store] done in
      store.write({ t throws(StorageError) in try t.sealing.forgetKeys(before: key) }, completion: done)
    }
  }
}
