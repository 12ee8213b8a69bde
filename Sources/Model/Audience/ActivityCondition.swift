import BorealisBase

/// Whom a push leaves out by when they were last there: Getui's `active_days`, and its filter of active or
/// inactive devices.
package struct ActivityCondition: Equatable, Sendable {
  /// Days before the push that are looked at; 1 to `mostDays`.
  package let days: Int
  /// Whether it keeps those who were there in these days, or those who were not.
  package let keepsActive: Bool

  /// The most days that a condition may look back.
  package static let mostDays: Int64 = 365

  /// Makes a condition.
  package init(days: Int, keepsActive: Bool) { (self.days, self.keepsActive) = (days, keepsActive) }

  /// The form in the push object, an extension of JPush's options that only requests of Getui's API have.
  package var json: JSONValue { ["days": .number(JSONNumber(days)), "active": .bool(keepsActive)] }

  /// Reads the members of a list.
  static func parse(_ fields: Fields, _ key: String) throws(APIError) -> [ActivityCondition] {
    guard let list = fields[key] else { return [] }
    var conditions: [ActivityCondition] = []
    for value in list.array ?? [] {
      guard let days = value["days"]?.int64, (1...mostDays).contains(days),
        case .bool(let active)? = value["active"]
      else { throw fields.invalid(key, "is invalid") }
      conditions.append(ActivityCondition(days: Int(days), keepsActive: active))
    }
    return conditions
  }
}
