import PushBase
import PushJSON
import PushRouter

/// An entry of `audience.cid_by_tag`: a CID and a condition on its tags.
struct TaggedCID: Sendable {
  static let key = "cid_by_tag"

  /// The condition (`op_type`).
  enum Rule: Int64, Sendable {
    case any = 0
    case all = 1
    case none = 2
  }

  let cid: String
  let tags: [String]
  let rule: Rule

  /// Reads the member of an audience, and refuses other members.
  static func list(_ audience: GetuiFields, most: Int) throws(GetuiError) -> [TaggedCID] {
    try audience.allow([key])
    guard let array = try audience.array(key, most: most), !array.isEmpty else {
      throw .missing(audience.name(key))
    }
    var choices: [TaggedCID] = []
    choices.reserveCapacity(array.count)
    for (index, value) in array.enumerated() {
      let name = "\(audience.name(key))[\(index)]"
      guard let object = value.object else { throw .wrongType(name) }
      choices.append(try TaggedCID(GetuiFields(object, path: name)))
    }
    guard Set(choices.map(\.cid)).count == choices.count else { throw .parameter("contains duplicate cid") }
    return choices
  }

  private init(_ fields: GetuiFields) throws(GetuiError) {
    try fields.allow(["cid", "tag", "op_type"])
    cid = try fields.required("cid")
    guard let tags = try fields.texts("tag", most: 100), !tags.isEmpty else {
      throw .missing(fields.name("tag"))
    }
    self.tags = tags
    // The default of the official Java client.
    guard let rule = Rule(rawValue: try fields.integer("op_type", in: 0...2) ?? 0) else {
      throw .invalid(fields.name("op_type"))
    }
    self.rule = rule
  }

  /// Whether the tags of a registration meet the condition.
  func isMeant(_ number: RegistrationNumber, in app: App) -> Bool {
    func has(_ tag: String) -> Bool { app.directory.hasTag(tag, number) }
    return switch rule {
    case .any: tags.contains(where: has)
    case .all: tags.allSatisfy(has)
    case .none: !tags.contains(where: has)
    }
  }
}
