import BorealisBase
import Channels
import Storage

/// What the commands `app apns` have in common.
enum AppAPNs {
  static func read<Value: Sendable>(
    _ store: Store, _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value
  ) throws(Failure) -> Value {
    try store.readNow(orFail: "cannot read the credentials", body)
  }

  static func write<Value: Sendable>(
    _ store: Store, _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Value
  ) throws(Failure) -> Value {
    try store.writeNow(orFail: "cannot change the credentials", body)
  }

  /// Changes the credential that the second operand names and prints it as it is then, unless it is gone.
  static func change(
    _ input: Input,
    _ body: @escaping @Sendable (WriteTransaction, AppID, APNsCredentialID) throws(StorageError) -> Bool
  ) throws(Failure) {
    guard let number = Int64(input.operands[1]), number > 0 else {
      throw .usage("ID is a number from the list")
    }
    let id = APNsCredentialID(number)
    try DataFolder(input).withApp(input.operands[0]) { store, app throws(Failure) in
      let isKnown = try write(store) { transaction throws(StorageError) in
        try body(transaction, app.id, id)
      }
      guard isKnown else { throw .failed("the app has no credential \(number)") }
      try printList(store, app)
    }
  }

  /// Prints one line for each credential of an app, the oldest first.
  static func printList(_ store: Store, _ app: AppRow) throws(Failure) {
    let rows = try read(store) { transaction throws(StorageError) in
      try transaction.credentials.all(app: app.id)
    }
    let now = SystemTime().now()
    for row in rows { Terminal.print(document(row, now: now)) }
  }

  /// All that may be shown of a credential.
  private static func document(_ row: APNsCredentialRow, now: Timestamp) -> JSONValue {
    var document = JSONObject()
    document.set("id", .number(JSONNumber(row.id.rawValue)))
    document.set("kind", .string(row.kind == .token ? "token" : "certificate"))
    document.set("environment", .string(row.environment.name))
    document.set("topic", .string(row.topic))
    if let teamID = row.teamID { document.set("team_id", .string(teamID)) }
    if let keyID = row.keyID { document.set("key_id", .string(keyID)) }
    document.set("fingerprint", .string(Hex.encode(row.fingerprint)))
    document.set("created_at", .number(JSONNumber(row.createdAt.seconds)))
    if let end = row.expiresAt {
      document.set("expires_at", .number(JSONNumber(end.seconds)))
      document.set(
        "days_left", .number(JSONNumber(Int64(APNsCredentialExpiry.daysLeft(until: end, from: now)))))
    }
    switch row.state {
    case .active: document.set("state", "active")
    case .retiring: document.set("state", "retiring")
    case .paused(let reason):
      document.set("state", "paused")
      document.set("reason", .string(reason))
    }
    if let newer = row.replacedBy { document.set("replaced_by", .number(JSONNumber(newer.rawValue))) }
    return .object(document)
  }
}
