import PushBase

extension WriteTransaction {
  /// The key that signs the cookies of known browsers, 32 bytes: the stored one, or `fresh`, which is stored then.
  public func browserKey(orStore fresh: [UInt8]) throws(StorageError) -> [UInt8] {
    try database.run("INSERT OR IGNORE INTO browser_key (id, key) VALUES (1, ?)", .blob(fresh))
    return try database.first("SELECT key FROM browser_key") { $0.blob(0) } ?? fresh
  }
}
