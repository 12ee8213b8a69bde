import BorealisBase
import Model

/// An API key as it is stored.
package struct APIKeyRow: Sendable, Equatable {
  package let id: Int64
  package let app: AppID
  /// What it is for.
  package let grant: APIKeyGrant
  /// SHA-256 of its secret.
  package let secretHash: [UInt8]
  /// The last characters of its secret, by which people recognize it.
  package let secretEnd: String
  package let createdAt: Timestamp
  /// When a call last came with it, up to a minute behind; nil for never.
  package let lastUsedAt: Timestamp?
  /// When it was revoked; nil if it is not.
  package let revokedAt: Timestamp?
}

/// A key to be stored.
package struct NewAPIKey: Sendable {
  /// How many characters of its secret are stored for people to see.
  package static let shownCharacters = 4

  package let grant: APIKeyGrant
  package let secretHash: [UInt8]
  package let secretEnd: String

  /// `secretHash` has 32 bytes.
  package init(_ grant: APIKeyGrant, secretHash: [UInt8], secret: String) {
    (self.grant, self.secretHash) = (grant, secretHash)
    secretEnd = String(secret.suffix(Self.shownCharacters))
  }
}

/// Whether calls succeeded. The raw values are stored in the database.
package enum APIRequestKind: UInt8, CaseIterable, Sendable {
  /// They succeeded.
  case successful = 0
  /// They were refused, or failed.
  case refused = 1
  /// They were refused to somebody who has no valid secret of the app.
  case unauthenticated = 2
}

/// Calls of the HTTP APIs that are alike in all but their times.
package struct APICall: Hashable, Sendable {
  package var kind: APIRequestKind
  package var method: String
  /// The pattern of the route; `-` for an unknown path.
  package var route: String
  package var status: Int
  /// The code of the API's error; 0 for none.
  package var code: Int
  /// The message of the API's error, without values of the request.
  package var message: String
  /// The caller; nil if it is not known, or if the calls came from several addresses.
  package var address: IPAddress?
  /// The API key that they came with; nil for the master secret, or none.
  package var key: Int64?

  package init(
    kind: APIRequestKind, method: String, route: String, status: Int, code: Int = 0, message: String = "",
    address: IPAddress? = nil, key: Int64? = nil
  ) {
    (self.kind, self.method, self.route) = (kind, method, route)
    (self.status, self.code, self.message) = (status, code, message)
    (self.address, self.key) = (address, key)
  }
}

/// The same with when and how often, as a row of the log of requests.
package struct APIRequestRow: Sendable, Equatable {
  package let call: APICall
  package let firstAt: Timestamp
  package let lastAt: Timestamp
  package let count: Int

  package init(_ call: APICall, firstAt: Timestamp, lastAt: Timestamp, count: Int) {
    (self.call, self.count) = (call, count)
    (self.firstAt, self.lastAt) = (firstAt, lastAt)
  }
}

/// Which rows of the log of requests are looked for.
package struct APIRequestFilter: Sendable, Equatable {
  package var kinds: Set<APIRequestKind> = Set(APIRequestKind.allCases)
  /// The statuses that they may have.
  package var statuses: ClosedRange<Int> = 0...999
  /// Nil for any code.
  package var code: Int?
  /// How the address begins.
  package var address = ""
  /// The number of the API key, 0 for the master secret; nil for any.
  package var key: Int64?

  /// All rows.
  package init() {}
}

/// A place in the log of requests: the number of the next row of each kind, from which older ones follow.
package struct APIRequestPlace: Sendable, Equatable {
  private var below: [Int64]

  /// Before the newest rows.
  package static let newest = APIRequestPlace(below: APIRequestKind.allCases.map { _ in .max })

  private init(below: [Int64]) { self.below = below }

  /// Reads what `text` writes.
  package init?(_ text: String) {
    let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0) }
    guard numbers.count == APIRequestKind.allCases.count, numbers.allSatisfy({ $0 ?? -1 >= 0 }) else {
      return nil
    }
    below = numbers.compactMap { $0 }
  }

  package var text: String { below.map(String.init).joined(separator: ".") }

  subscript(kind: APIRequestKind) -> Int64 {
    get { below[Int(kind.rawValue)] }
    set { below[Int(kind.rawValue)] = newValue }
  }
}

/// A part of the log of requests.
package struct APIRequestList: Sendable, Equatable {
  /// The newest first.
  package let rows: [APIRequestRow]
  /// Where older ones follow; nil if there are none.
  package let next: APIRequestPlace?
}
