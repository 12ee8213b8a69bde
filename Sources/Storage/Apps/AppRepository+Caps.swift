import BorealisBase

/// How many notifications an app sends to a device in a day at most, by class; 0 for any number.
package struct CapsRow: Sendable, Equatable {
  /// Of those of which the sender does not say what they are.
  package var normal: Int
  /// Of those that the sender says are marketing.
  package var marketing: Int

  /// Puts them together; without arguments there are none.
  package init(normal: Int = 0, marketing: Int = 0) {
    (self.normal, self.marketing) = (normal, marketing)
  }

  init(_ row: Row) {
    self.init(normal: row.count("cap_normal"), marketing: row.count("cap_marketing"))
  }
}

/// A push that counts for the devices that it is for.
package struct CountedPushRow: Sendable {
  /// Whether it is marketing.
  package let isMarketing: Bool
  /// Its only target, or its targets in the router's encoding, and the rest of its audience.
  package let target: RegistrationNumber?
  package let targets, unreached: [UInt8]?
}

extension AppRepository<Writing> {
  /// Sets how many notifications an app sends to a device in a day at most; false for an unknown app.
  package func setCaps(app: AppID, _ caps: CapsRow) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE app SET cap_normal = ?, cap_marketing = ? WHERE id = ? AND deleted_at IS NULL",
      .integer(caps.normal), .integer(caps.marketing), .app(app))
    return database.changes > 0
  }
}

extension PushRepository {
  /// Calls `body` with each push of an app since a moment that counts for the devices that it is for.
  package func counted(
    app: AppID, since moment: Timestamp, each body: (CountedPushRow) -> Void
  ) throws(StorageError) {
    let statement = try database.statement(
      """
      SELECT traits, target, targets, unreached FROM push
      WHERE app_id = ? AND msg_id >= ? AND created_at >= ? AND traits & 24576 <> 0
      """)
    // IDs find them, but are given a moment later, when a push is stored.
    try statement.each([.app(app), .message(MessageID(firstAt: moment)), .time(moment)]) { row in
      let traits = PushTraits(rawValue: row.integer("traits", as: UInt16.self))
      body(
        CountedPushRow(
          isMarketing: traits.contains(.countsAsMarketing),
          target: row.optionalInteger("target").map { RegistrationNumber(UInt32(clamping: $0)) },
          targets: row.optionalBlob("targets"), unreached: row.optionalBlob("unreached")))
    }
  }
}
