import BorealisBase
import Model
import Storage

/// All that is known of a device.
package struct DeviceFile: Sendable {
  /// What is stored of it.
  package let row: RegistrationRow
  /// When things of it came and went.
  package let history: RegistrationHistory
  /// What is known of its tokens, by channel, kind and name: of those that it has and of those that it had.
  package let tokens: [TokenHistory]
  /// Its tags, sorted, with the moments at which they came as far as they are known.
  package let tags: [(name: String, at: Timestamp?)]
  /// The latest tags that it lost, newest first.
  package let lostTags: [(name: String, at: Timestamp?)]
  /// What it has reported of itself, of the facts that its app asks for.
  package let facts: [DeviceFact: String]
  /// Its state.
  package let status: DeviceStatus
  /// Whether it is a device for tests.
  package let isTestDevice: Bool
  /// The latest pushes for it, the newest first; or those before a given push.
  package let pushes: [Push]
  /// What is older than this was not looked at; nil if there is nothing older.
  package let lookedBackTo: MessageID?

  /// A push for the device.
  package struct Push: Sendable {
    package let id: MessageID
    /// When it was accepted.
    package let createdAt: Timestamp
    /// What the device gets, in the router's encoding.
    package let content: [UInt8]
    /// Its outcome for this device.
    package let diagnosis: Diagnosis
    /// What a channel's service answered for this device; nil if none was asked, or has answered.
    package let answer: Answer?
  }

  /// What the service of a channel answered.
  package struct Answer: Sendable {
    package let channel: ChannelID
    /// `ChannelEnd.delivered`, another of `ChannelEnd`, or the service's reason.
    package let word: String
  }

  /// What the service of a channel last said to a push for this device: its word, and the push.
  package func latestAnswer(of channel: ChannelID) -> (word: String, push: MessageID)? {
    pushes.lazy.compactMap { push in
      push.answer.flatMap { $0.channel == channel ? ($0.word, push.id) : nil }
    }.first
  }
}

extension Diagnostics {
  /// Pushes of a device that are listed.
  private static var listedPushes: Int { 10 }
  /// Pushes of the app that are looked at for them, and of how many of these to several the sets are.
  private static var depth: Int { 10_000 }
  private static var sets: Int { 100 }
  /// Batches to the app's server that are looked through for each of them: a body may have hundreds of
  /// kilobytes.
  private static var callbackDepth: Int { 20 }

  /// Everything known about a device, nil if it no longer exists. Of its pushes those older than `before`.
  package func file(
    _ number: RegistrationNumber, in app: App, before: MessageID? = nil,
    reply: @escaping @Sendable (Result<DeviceFile?, DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.read(inTurnOf: app.id) { transaction throws(StorageError) -> DeviceFile? in
      guard let row = try transaction.registrations.find(app: app.id, number: number),
        let history = try transaction.registrations.history(app: app.id, number: number),
        let status = app.directory.status(number)
      else { return nil }
      let names = try transaction.tags.names(app: app.id, numbers: row.tags)
      // Numbers without a name are left out of the names; then nobody knows which belong together.
      let times = names.count == history.tags.count ? history.tags.map(\.at) : names.map { _ in nil }
      let tags = zip(names, times).map { (name: $0, at: $1) }.sorted { $0.name < $1.name }
      let lostTags = try lost(history, app, transaction)
      let latest = try transaction.pushes.latest(
        app: app.id, of: number, before: before ?? MessageID(UInt64(Int64.max)), limit: Self.listedPushes,
        depth: Self.depth, groups: Self.sets
      ) {
        [$0, $1].contains { NumberSet(serialized: $0)?.contains(number) == true }
      }
      var pushes: [DeviceFile.Push] = []
      for push in latest.pushes {
        guard
          let found = try facts(
            of: push.id, .there(number), app, transaction, at: now, callbackDepth: Self.callbackDepth)
        else { continue }
        let own = push.languages.flatMap { PushLanguages(decoding: $0) }?.content(for: number)
        let word: String? =
          switch found.way?.state {
          case .refused(let reason): reason
          case .accepted: ChannelEnd.delivered
          case .notMeant, .waiting, .over, nil: nil
          }
        let answer = found.way.flatMap { way in
          word.map { DeviceFile.Answer(channel: way.channel.id, word: $0) }
        }
        pushes.append(
          DeviceFile.Push(
            id: push.id, createdAt: push.createdAt, content: own?.encode() ?? push.content,
            diagnosis: Diagnosis(found), answer: answer))
      }
      return DeviceFile(
        row: row, history: history, tokens: try transaction.tokens.all(app: app.id, of: number), tags: tags,
        lostTags: lostTags, facts: app.directory.facts(of: number), status: status,
        isTestDevice: try transaction.testDevices.contains(row.registrationID, app: app.id), pushes: pushes,
        lookedBackTo: latest.next)
    } completion: {
      reply($0.mapError { _ in .unavailable })
    }
  }

  private func lost(
    _ history: RegistrationHistory, _ app: App, _ transaction: ReadTransaction
  ) throws(StorageError) -> [(name: String, at: Timestamp?)] {
    var found: [(name: String, at: Timestamp?)] = []
    for tag in history.lostTags {
      guard let name = try transaction.tags.names(app: app.id, numbers: [tag.number]).first else { continue }
      found.append((name, tag.at))
    }
    return found
  }
}
