import BorealisBase
import Model

/// Conditions on tags and platforms, of `POST /push/tag` and `POST /user/count`. All conditions are combined
/// by AND, also those with the same key.
struct TagConditions {
  /// The devices that meet them.
  let target: PushTarget
  /// Whether counting these devices would block an event loop.
  let isCostly: Bool

  /// Reads the member `tag` of an object, and refuses other members.
  init(_ fields: GetuiFields) throws(GetuiError) {
    try fields.allow(["tag"])
    var tags = Tags()
    var platforms: PlatformSet?
    for condition in try fields.objects("tag", most: 100) {
      try condition.allow(["key", "values", "opt_type"])
      switch try condition.required("key") {
      case "custom_tag": try tags.add(condition)
      case "phone_type": platforms = (platforms ?? .all).intersection(try Self.platforms(condition))
      case let key:
        let name = "\(condition.name("key")) '\(key.prefix(32))'"
        throw .parameter("permission required by \(name): known are custom_tag and phone_type")
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
      default:
        throw .invalid(
          condition.name("values"), "it must hold android, ios and harmony only, not '\(name.prefix(32))'")
      }
    }
    let union = sets.reduce(into: PlatformSet()) { $0.formUnion($1) }
    switch try condition.text("opt_type") ?? "or" {
    case "or": return union
    case "and": return sets.reduce(into: PlatformSet.all) { $0.formIntersection($1) }
    case "not": return PlatformSet.all.subtracting(union)
    default: throw wrongJoint(condition)
    }
  }

  private static func wrongJoint(_ condition: GetuiFields) -> GetuiError {
    .invalid(condition.name("opt_type"), "it must be or, and or not")
  }

  /// Conditions on tags in the form of an audience.
  private struct Tags {
    private var (any, all, none): ([String], [String], [String]) = ([], [], [])

    mutating func add(_ condition: GetuiFields) throws(GetuiError) {
      let values = try TagConditions.values(condition)
      for (place, tag) in values.enumerated() {
        try GetuiError.check(tag: tag, at: "\(condition.name("values"))[\(place)]")
      }
      switch try condition.text("opt_type") ?? "or" {
      case "and": all += values
      case "not": none += values
      case "or" where values.count == 1: all += values
      case "or":
        guard any.isEmpty else {
          let name = condition.name("opt_type")
          throw .parameter("permission required by \(name) or: one condition with several values may have it")
        }
        any = values
      default: throw TagConditions.wrongJoint(condition)
      }
      guard max(any.count, all.count, none.count) <= Audience.maximumTagsOfGetui else {
        throw .overLimit(
          condition.name("values"),
          "all conditions have at most \(Audience.maximumTagsOfGetui) tags for each opt_type")
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
