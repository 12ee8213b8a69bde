import BorealisBase
import Core

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
    let choices = try audience.objects(key, most: most).map { object throws(GetuiError) in
      try TaggedCID(object)
    }
    try GetuiError.refuseDuplicates(choices.map(\.cid), of: "cid")
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
      throw .invalid(fields.name("op_type"), "it must be from 0 to 2")
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
