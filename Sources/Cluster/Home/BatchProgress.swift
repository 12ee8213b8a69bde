import BorealisBase

/// The batches of acknowledgements of a gateway on their way to the database. Each has a token, which stands
/// for a connection: the router says how many acknowledgements of that are stored.
struct BatchProgress: Sendable {
  /// What is to be done with a batch.
  enum Beginning: Sendable {
    /// The router gets it, under this token.
    case new(UInt32)
    /// It came before, and is being stored.
    case underway
    /// It came before, and is stored.
    case stored
  }

  /// A batch.
  struct Batch: Sendable {
    let app: AppID
    let number: UInt64
    /// How many acknowledgements are not stored.
    fileprivate var left = 0
  }

  private var batches: [UInt32: Batch] = [:]
  private var tokens: [UInt64: UInt32] = [:]
  /// The gateway may not know yet.
  private var stored = RecentSet<UInt64>(capacity: 4096)
  private var token: UInt32 = 0

  /// A batch has come.
  mutating func begin(_ number: UInt64, of app: AppID) -> Beginning {
    guard tokens[number] == nil else { return .underway }
    guard !stored.contains(number) else { return .stored }
    token &+= 1
    tokens[number] = token
    batches[token] = Batch(app: app, number: number)
    return .new(token)
  }

  /// An app has another home: it is told what is not stored here.
  mutating func forget(_ app: AppID) {
    for (token, batch) in batches where batch.app == app {
      batches[token] = nil
      tokens[batch.number] = nil
    }
  }

  /// The router awaits more acknowledgements of a batch to be stored, or has stored some. The batch, if
  /// nothing of it is left.
  mutating func change(_ token: UInt32, awaited: Int, stored count: Int) -> Batch? {
    guard var batch = batches[token] else { return nil }
    batch.left += awaited - count
    batches[token] = batch
    guard batch.left <= 0 else { return nil }
    batches[token] = nil
    tokens[batch.number] = nil
    stored.insert(batch.number)
    return batch
  }
}
