/// What a call of the HTTP APIs needs: each route needs one of these. An API key has some, the master secret
/// all. The names are used in the API.
package enum APIRight: String, CaseIterable, Sendable {
  /// To send, plan and recall pushes.
  case push
  /// To read and change devices, aliases and tags.
  case devices
  /// To read what became of pushes, and who uses the app.
  case reports
  /// To read and change the app's settings, API keys among them.
  case settings
}

/// Some rights. The raw value is stored in the database.
package struct APIRights: OptionSet, Hashable, Sendable {
  /// A bit for each, the lowest for `push`.
  package let rawValue: UInt8

  /// Wraps bits.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// One right.
  package init(_ right: APIRight) {
    rawValue =
      switch right {
      case .push: 1
      case .devices: 2
      case .reports: 4
      case .settings: 8
      }
  }

  /// All that there are.
  package static let all = APIRights(APIRight.allCases.map { APIRights($0) })

  /// Its rights, in their order.
  package var rights: [APIRight] { APIRight.allCases.filter { contains($0) } }

  /// Whether one right is among them.
  package func contains(_ right: APIRight) -> Bool { contains(APIRights(right)) }

  /// Its names, for people.
  package var text: String { rights.map(\.rawValue).joined(separator: ", ") }
}
