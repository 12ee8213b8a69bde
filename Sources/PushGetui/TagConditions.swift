import PushBase
import PushDomain
import PushJSON

/// Conditions on tags and platforms, of `POST /push/tag` and `POST /user/count`. All conditions are combined by AND, also
/// those with the same key.
struct TagConditions {
  /// The devices that meet them.
  let target: PushTarget
  /// Whether counting these devices would block an event loop.
  let isCostly: Bool

  /// Reads the member `tag` of an object, and refuses other members.
  init(_ fields: GetuiFields) throws(GetuiError) {
    try fields.allow(["tag"])
    guard let list = try fields.array("tag", most: 100), !list.isEmpty else {
      throw .missing(fields.name("tag"))
    }
    var tags = Tags()
    var platforms: PlatformSet?
    for (index, value) in list.enumerated() {
      let name = "\(fields.name("tag"))[\(index)]"
      guard let object = value.object else { throw .wrongType(name) }
      let condition = GetuiFields(object, path: name)
      try condition.allow(["key", "values", "opt_type"])
      switch try condition.required("key") {
      case "custom_tag": try tags.add(condition)
      case "phone_type": platforms = (platforms ?? .all).intersection(try Self.platforms(condition))
      default: throw .unsupported(condition.name("key"))
      }
    }
    isCostly = tags.count > Self.mostOnLoop
    target = PushTarget(audience: tags.audience, platforms: platforms)
  }

  /// The most tags whose devices an event loop may look up.
  private static let mostOnLoop = 3

  private static func values(_ condition: GetuiFields) throws(GetuiError) -> [String] {
    guard let texts = try condition.texts("values", most: 100), !texts.isEmpty else {
      throw .missing(condition.name("values"))
    }
    return texts
  }

  /// Returns the platforms of a condition. Quick apps run on Android.
  private static func platforms(_ condition: GetuiFields) throws(GetuiError) -> PlatformSet {
    let sets = try values(condition).map { name throws(GetuiError) -> PlatformSet in
      switch name.lowercased() {
      case "android": return PlatformSet(.android).union(PlatformSet(.quickapp))
      case "ios": return PlatformSet(.ios)
      case "harmony": return PlatformSet(.hmos)
      default: throw .unsupported("\(condition.name("values")) \(name.prefix(32))")
      }
    }
    let union = sets.reduce(into: PlatformSet()) { $0.formUnion($1) }
    switch try condition.text("opt_type") ?? "or" {
    case "or": return union
    case "and": return sets.reduce(into: PlatformSet.all) { $0.formIntersection($1) }
    case "not": return PlatformSet.all.subtracting(union)
    default: throw .invalid(condition.name("opt_type"))
    }
  }

  /// Conditions on tags in the form of an audience.
  private struct Tags {
    private var (any, all, none): ([String], [String], [String]) = ([], [], [])

    mutating func add(_ condition: GetuiFields) throws(GetuiError) {
      let values = try TagConditions.values(condition)
      switch try condition.text("opt_type") ?? "or" {
      case "and": all += values
      case "not": none += values
      case "or" where values.count == 1: all += values
      case "or":
        guard any.isEmpty else { throw .unsupported("\(condition.name("opt_type")) or, twice") }
        any = values
      default: throw .invalid(condition.name("opt_type"))
      }
      guard max(any.count, all.count, none.count) <= Audience.maximumTagsOfGetui else {
        throw .overLimit(condition.name("values"))
      }
    }

    var count: Int { any.count + all.count + none.count }

    /// Everybody if there is no condition.
    var audience: Audience {
      let filter = AudienceFilter(tags: any, tagsAnd: all, tagsNot: none)
      return filter.isEmpty ? .all : .filter(filter)
    }
  }
}
