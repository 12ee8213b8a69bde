import BorealisBase

/// What a developer asks for with `POST /v1/app` (JPush's admin API).
package struct AppRequest: Equatable, Sendable {
  /// The app's name, for people.
  package var name: String
  /// Its Android package, by which a repeated request is recognised; nil for none.
  package var androidPackage: String?
  /// The group that the developer files it under; nil for none.
  package var group: String?

  /// The most bytes of a name.
  package static let maximumNameBytes = 100

  /// Reads the body: 4002 for a missing name, 4003 for a value that is not valid. Keys that aren't known are
  /// passed over.
  package static func parse(_ json: JSONValue) throws(APIError) -> AppRequest {
    let faults = APIFaults.admin
    guard let object = json.object else { throw faults.invalid("The body must be a JSON object") }
    func text(_ key: String) throws(APIError) -> String? {
      guard let value = object[key], value != .null else { return nil }
      guard let text = value.string else { throw faults.invalid("\(key) must be a string") }
      return text.isEmpty ? nil : text
    }
    guard let name = try text("app_name").map(\.withoutOuterWhitespace), !name.isEmpty else {
      throw faults.missing("Missing parameter: app_name")
    }
    guard isName(name) else {
      throw faults.invalid("app_name must have at most \(maximumNameBytes) bytes and no control characters")
    }
    let package = try text("android_package")
    guard package.map(isPackage) ?? true else {
      throw faults.invalid("android_package must be a package name such as com.example.app")
    }
    let group = try text("group_name")
    guard group.map(isName) ?? true else {
      throw faults.invalid("group_name must have at most \(maximumNameBytes) bytes and no control characters")
    }
    return AppRequest(name: name, androidPackage: package, group: group)
  }

  /// Whether a text may be the name of an app or an account: 1 to 100 bytes, no control characters.
  package static func isName(_ text: String) -> Bool {
    (1...maximumNameBytes).contains(text.utf8.count) && text.isPlainLine
  }

  /// Letters, digits, `_` and dots between parts, at most 255 bytes.
  private static func isPackage(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return text.utf8.count <= 255
      && parts.allSatisfy { part in
        !part.isEmpty
          && part.allSatisfy { byte in
            switch byte {
            case 48...57, 65...90, 97...122, 95: true
            default: false
            }
          }
      }
  }
}
