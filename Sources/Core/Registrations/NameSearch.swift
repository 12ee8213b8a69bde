import BorealisBase
import Storage

/// A tag or an alias that an app uses.
package struct NameInUse: Sendable, Equatable {
  package let name: String
  /// How many registrations have it.
  package let count: Int
}

extension Registrations {
  /// Names that are read for a list: of tags that nobody has any more the database still knows the names.
  private static let looks = 200

  /// Tags of an app that begin with a text and that a registration has, in the order of their bytes, at most
  /// `limit`.
  package func tags(startingWith text: String, in app: App, limit: Int) async
    -> Result<[NameInUse], StorageError>
  {
    let found = await store.read { transaction throws(StorageError) in
      try transaction.tags.names(app: app.id, from: text, limit: Self.looks)
    }
    return found.map { Self.inUse($0, startingWith: text, limit) { app.directory.tagCount($0) } }
  }

  /// Aliases of an app that begin with a text, in the order of their bytes, at most `limit`.
  package func aliases(startingWith text: String, in app: App, limit: Int) async
    -> Result<[NameInUse], StorageError>
  {
    let found = await store.read { transaction throws(StorageError) in
      try transaction.registrations.aliases(app: app.id, from: text, limit: limit)
    }
    return found.map {
      Self.inUse($0, startingWith: text, limit) { app.directory.registrations(alias: $0).count }
    }
  }

  private static func inUse(
    _ names: [String], startingWith text: String, _ limit: Int, count: (String) -> Int
  ) -> [NameInUse] {
    var found: [NameInUse] = []
    for name in names where found.count < limit {
      guard name.utf8.starts(with: text.utf8) else { break }
      let count = count(name)
      if count > 0 { found.append(NameInUse(name: name, count: count)) }
    }
    return found
  }

  /// A page of an app's tags in the order of their bytes, those after a name: also those that nobody has.
  /// `next` is the last of them if more follow, else nil.
  package func tags(after name: String?, in app: App, limit: Int) async
    -> Result<(tags: [NameInUse], next: String?), StorageError>
  {
    let found = await store.read { transaction throws(StorageError) in
      try transaction.tags.names(app: app.id, from: name ?? "", isAfter: name != nil, limit: limit + 1)
    }
    return found.map { names in
      let shown = names.prefix(limit)
      return (
        shown.map { NameInUse(name: $0, count: app.directory.tagCount($0)) },
        names.count > limit ? shown.last : nil
      )
    }
  }
}
