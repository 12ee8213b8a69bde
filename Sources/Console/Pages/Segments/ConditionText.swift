import BorealisBase
import Model

/// A condition for devices in words, to be read after "Devices".
struct ConditionText {
  private let condition: DeviceCondition

  init(_ condition: DeviceCondition) { self.condition = condition }

  var phrase: Phrase { Self.phrase(condition, isInner: false) }

  private static func phrase(_ condition: DeviceCondition, isInner: Bool) -> Phrase {
    switch condition {
    case .all(let parts):
      return joined(parts, Words.and, nobody: Words.conditionEverybody, isInner)
    case .any(let parts): return joined(parts, Words.or, nobody: Words.conditionNobody, isInner)
    case .not(.hasAlias): return Words.conditionNoAlias
    case .not(.known(let fact)): return Words.conditionUnknown.with(each: fact.phrase)
    case .not(let inner): return Words.conditionNot.with(each: phrase(inner, isInner: true))
    case .tag(let name): return Words.conditionTag.with(name)
    case .hasAlias: return Words.conditionAlias
    case .platform(let platform): return Words.conditionPlatform.with(each: platform.phrase)
    case .known(let fact): return Words.conditionKnown.with(each: fact.phrase)
    case .compare(let fact, let comparison, let value):
      return comparison.phrase.with(each: fact.phrase, Phrase(verbatim: value))
    case .lastSeen(let window): return Words.conditionSeen.with(each: phrase(window))
    case .registered(let window): return Words.conditionRegistered.with(each: phrase(window))
    case .push(let reaction, let id): return reaction.phrase.with(id.text)
    }
  }

  private static func joined(
    _ parts: [DeviceCondition], _ joint: Phrase, nobody: Phrase, _ isInner: Bool
  ) -> Phrase {
    let words = parts.map { phrase($0, isInner: parts.count > 1) }
    guard let first = words.first else { return nobody }
    let whole = words.dropFirst().reduce(first) { joint.with(each: $0, $1) }
    return isInner && words.count > 1 ? Words.conditionGroup.with(each: whole) : whole
  }

  private static func phrase(_ window: TimeWindow) -> Phrase {
    var parts: [Phrase] = []
    if let days = window.lastDays { parts.append(Words.withinDays.with(Counted.grouped(days))) }
    if let since = window.since { parts.append(Words.sinceTime.with(since.text)) }
    if let before = window.before { parts.append(Words.beforeTime.with(before.text)) }
    guard let first = parts.first else { return Phrase(verbatim: "") }
    return parts.dropFirst().reduce(first) { Words.and.with(each: $0, $1) }
  }
}

extension DeviceCondition.Comparison {
  fileprivate var phrase: Phrase {
    switch self {
    case .equal: Words.factIs
    case .less: Words.factLess
    case .lessOrEqual: Words.factAtMost
    case .greater: Words.factMore
    case .greaterOrEqual: Words.factAtLeast
    case .beginsWith: Words.factBegins
    }
  }
}

extension DeviceCondition.PushReaction {
  fileprivate var phrase: Phrase {
    switch self {
    case .received: Words.conditionReceived
    case .shown: Words.conditionShown
    case .tapped: Words.conditionTapped
    }
  }
}
