/// The members of a JSON object in the order of the document. No key occurs twice: keys that differ in bytes
/// stay apart, or two parties read two things in one document.
public struct JSONObject: Sendable, Equatable {
  /// A name and its value.
  public struct Member: Sendable, Equatable {
    /// The name with its escapes resolved.
    public let key: String
    /// The value of the name.
    public var value: JSONValue
  }

  /// All members in order.
  public private(set) var members: [Member]

  /// Starts empty.
  public init() { members = [] }

  init(distinct members: [Member]) { self.members = members }

  /// How many members there are.
  public var count: Int { members.count }

  /// Whether there is no member.
  public var isEmpty: Bool { members.isEmpty }

  /// The value under a key, nil if there is none. Compares byte by byte, in time linear in `count`.
  public subscript(key: String) -> JSONValue? {
    for member in members where member.key.hasSameBytes(as: key) { return member.value }
    return nil
  }

  /// Removes a member and returns its value, nil if there is none.
  public mutating func remove(_ key: String) -> JSONValue? {
    guard let index = members.firstIndex(where: { $0.key.hasSameBytes(as: key) }) else { return nil }
    return members.remove(at: index).value
  }

  /// Replaces a member's value in its place or appends a member.
  public mutating func set(_ key: String, _ value: JSONValue) {
    if let index = members.firstIndex(where: { $0.key.hasSameBytes(as: key) }) {
      members[index].value = value
    } else {
      members.append(Member(key: key, value: value))
    }
  }
}
