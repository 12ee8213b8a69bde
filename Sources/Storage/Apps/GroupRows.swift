import BorealisBase
import Model

/// A group of apps as it is stored.
package struct AppGroupRow: Sendable, Equatable {
  /// Row number.
  package var id: Int64
  /// Public key.
  package var key: AppKey
  /// For people.
  package var name: String
  /// 32 bytes; the caller chooses the hash.
  package var secretHash: [UInt8]
  /// When it was made.
  package var createdAt: Timestamp
  /// The keys of its apps, in order.
  package var apps: [AppKey]
  /// Whose it is; nil for the operator's, who may group apps of any account.
  package var account: AccountID?
}

/// A push to the apps of a group, as it is stored.
package struct AppGroupPushRow: Sendable, Equatable {
  /// What an app made of it.
  package struct Member: Sendable, Equatable {
    package var app: AppKey
    /// Its push, or why there is none.
    package var result: Result<MessageID, APIError>

    package init(app: AppKey, result: Result<MessageID, APIError>) {
      self.app = app
      self.result = result
    }
  }

  /// The number of the push as a whole.
  package var id: MessageID
  /// The caller's own number.
  package var sendno: Int64
  /// When it was accepted.
  package var createdAt: Timestamp
  /// Its apps, by key.
  package var members: [Member]

  package init(id: MessageID, sendno: Int64, createdAt: Timestamp, members: [Member]) {
    self.id = id
    self.sendno = sendno
    self.createdAt = createdAt
    self.members = members
  }
}
