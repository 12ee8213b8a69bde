import BorealisBase
import Model
import Storage

/// What channels need of a push, the same for all of them.
package struct StoredPush: Sendable {
  /// What devices see of it.
  package let content: PushContent
  /// Whose rules chose the channels.
  package let strategy: Strategy
  /// The targets whose notification another channel carries, nil for none.
  package let elsewhere: NumberSet?
  /// Whose notification another channel brings unless they acknowledge the push in time, nil for nobody.
  package let fallback: PushFallback?
  /// What some of the targets get in their language in place of `content`, nil for nobody.
  package let languages: PushLanguages?

  /// Makes a push.
  package init(
    content: PushContent, strategy: Strategy = .jpush, elsewhere: NumberSet? = nil,
    fallback: PushFallback? = nil, languages: PushLanguages? = nil
  ) {
    self.content = content
    self.strategy = strategy
    self.elsewhere = elsewhere
    self.fallback = fallback
    self.languages = languages
  }

  /// What the database holds, nil if it is unreadable.
  init?(_ stored: StoredContent) {
    guard let content = PushContent(decoding: stored.content) else { return nil }
    let languages = stored.languages.map { PushLanguages(decoding: $0) }
    // Unreadable like the rest of it.
    if case .some(.none) = languages { return nil }
    self.init(
      content: content, strategy: Strategy(number: stored.strategy) ?? .jpush,
      elsewhere: Self.elsewhere(stored.legs), fallback: PushFallback(stored.fallbacks),
      languages: languages.flatMap { $0 })
  }

  /// What the database holds, nil if it is unreadable.
  init?(_ row: PushRow, _ fallbacks: [FallbackRow] = []) {
    self.init(
      StoredContent(
        content: row.content, languages: row.languages, strategy: row.strategy, legs: row.legs,
        fallbacks: fallbacks))
  }

  /// Whose notification other channels bring.
  private static func elsewhere(_ legs: [LegTargetsRow]) -> NumberSet? {
    legs.filter(\.leg.isMain).reduce(nil) { all, row in
      guard let targets = NumberSet(serialized: row.targets) else { return all }
      return all?.union(targets) ?? targets
    }
  }

  /// Whether another channel than our connection brings a registration the notification.
  package func goesElsewhere(for number: RegistrationNumber) -> Bool { elsewhere?.contains(number) ?? false }

  /// The moment from which on a registration must not show the notification by itself, since another channel
  /// is about to bring it; nil for no such moment.
  package func showBefore(_ number: RegistrationNumber) -> Timestamp? {
    fallback.flatMap { $0.targets.contains(number) ? $0.showBefore : nil }
  }

  // MARK: Languages

  /// The push as a registration gets it: with its language as the only one.
  package func inLanguage(of number: RegistrationNumber) -> StoredPush {
    guard let languages else { return self }
    return saying(languages.content(for: number) ?? content)
  }

  /// The push in each language that some registrations get, with those who get it. Nobody gets two.
  package func byLanguage(_ targets: NumberSet) -> [(push: StoredPush, targets: NumberSet)] {
    guard let languages else { return [(self, targets)] }
    var (parts, others): ([(push: StoredPush, targets: NumberSet)], NumberSet) = ([], targets)
    for text in languages.texts {
      let some = text.targets.intersection(targets)
      guard !some.isEmpty else { continue }
      parts.append((saying(text.content), some))
      others.subtract(some)
    }
    return others.isEmpty ? parts : [(saying(content), others)] + parts
  }

  private func saying(_ content: PushContent) -> StoredPush {
    StoredPush(content: content, strategy: strategy, elsewhere: elsewhere, fallback: fallback)
  }

  /// The JSON that a device of a platform gets over our connection: without what another channel brings it.
  package func deviceJSON(_ platform: Platform, viaVendor: Bool, showBefore: Timestamp? = nil) -> [UInt8] {
    let parts = Routing.ownParts(
      platform, of: content.parts(for: platform), strategy: strategy, viaVendor: viaVendor)
    return content.deviceJSON(platform: platform, parts: parts, showBefore: showBefore)
  }
}

/// Whose notification vendors' channels bring unless they acknowledge the push in time.
package struct PushFallback: Sendable {
  /// Who they are.
  package let targets: NumberSet
  /// From when on they must not show it by themselves: their acknowledgement could come too late.
  package let showBefore: Timestamp

  /// Both fields.
  package init(targets: NumberSet, showBefore: Timestamp) {
    self.targets = targets
    self.showBefore = showBefore
  }

  /// Milliseconds that an acknowledgement has for its way, at most, and of a short time half of it.
  private static let way: Int64 = 2000

  /// For a push whose channels take over at a moment, some seconds after it was accepted.
  init(targets: NumberSet, dueAt: Timestamp, seconds: Int64) {
    let way = min(Self.way, seconds * 500)
    self.init(targets: targets, showBefore: Timestamp(milliseconds: dueAt.milliseconds - way))
  }

  /// What is stored of those who are waited for; nil if there is nobody.
  init?(_ rows: [FallbackRow]) {
    let open = rows.filter { !$0.isDone }
    guard let first = open.first else { return nil }
    let targets = open.reduce(into: NumberSet()) { all, row in
      if let some = NumberSet(serialized: row.targets) { all.formUnion(some) }
    }
    self.init(targets: targets, dueAt: first.dueAt, seconds: first.seconds)
  }
}
