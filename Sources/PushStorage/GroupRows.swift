import PushBase
import PushDomain

/// A group of apps as it is stored.
public struct AppGroupRow: Sendable, Equatable {
  /// Row number.
  public var id: Int64
  /// Public key.
  public var key: AppKey
  /// For people.
  public var name: String
  /// 32 bytes; the caller chooses the hash.
  public var secretHash: [UInt8]
  /// When it was made.
  public var createdAt: Timestamp
  /// The keys of its apps, in order.
  public var apps: [AppKey]
  /// Whose it is; nil for the operator's, who may group apps of any account.
  public var account: AccountID?
}

/// A push to the apps of a group, as it is stored.
public struct AppGroupPushRow: Sendable, Equatable {
  /// What an app made of it.
  public struct Member: Sendable, Equatable {
    /// The app.
    public var app: AppKey
    /// Its push, or why there is none.
    public var result: Result<MessageID, APIError>

    /// All fields.
    public init(app: AppKey, result: Result<MessageID, APIError>) {
      self.app = app
      self.result = result
    }
  }

  /// The number of the push as a whole.
  public var id: MessageID
  /// The caller's own number.
  public var sendno: Int64
  /// When it was accepted.
  public var createdAt: Timestamp
  /// Its apps, by key.
  public var members: [Member]

  /// All fields.
  public init(id: MessageID, sendno: Int64, createdAt: Timestamp, members: [Member]) {
    self.id = id
    self.sendno = sendno
    self.createdAt = createdAt
    self.members = members
  }
}
