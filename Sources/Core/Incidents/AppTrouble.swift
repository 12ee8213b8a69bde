import BorealisBase
import Model
import Storage

/// Something about an app that somebody has to look at.
package struct AppTrouble: Sendable, Equatable {
  package let identity: TroubleIdentity
  /// What it is, in a sentence.
  package let phrase: Phrase

  init(_ identity: TroubleIdentity, _ phrase: Phrase) { (self.identity, self.phrase) = (identity, phrase) }
}

extension AppTrouble {
  /// Seconds for which callbacks may wait until somebody has to look at their receiver.
  private static let longestWait: Int64 = 600
  /// Seconds for which a canary that has stopped needs attention, and how many of an app do so at a time.
  private static let (canarySeconds, mostCanaries): (Int64, Int) = (3600, 10)
  /// Apps whose callbacks one look at the database examines.
  private static let mostSenders = 1000

  /// What memory knows of an app.
  static func inMemory(of app: App, _ channels: PluggedChannels) -> [AppTrouble] {
    var troubles = channels.alerts(of: app).map {
      AppTrouble(TroubleIdentity($0.kind, of: $0.channel.id, service: $0.service), $0.phrase)
    }
    if let most = app.plan.registrations, app.directory.registrationCount >= most {
      let text = Phrase("The app has as many devices as its plan allows.", "设备数已达套餐上限。")
      troubles.append(AppTrouble(TroubleIdentity(.registrations), text))
    }
    return troubles
  }

  /// Those of canaries that have stopped, the newest ones.
  private static func canaries(
    of app: App, _ transaction: ReadTransaction, at now: Timestamp
  ) throws(StorageError) -> [AppTrouble] {
    try transaction.canaries.troubles(
      of: app.id, from: now.adding(seconds: -canarySeconds), to: now, limit: mostCanaries
    ).compactMap { AppTrouble($0) }
  }

  /// What the database knows of an app on a day of `zone`; of canaries nothing, if none of the app is among
  /// those `stopped`.
  static func stored(
    of app: App, stopped: Set<AppID>? = nil, in transaction: ReadTransaction, _ zone: any Zone,
    at now: Timestamp
  ) throws(StorageError) -> [AppTrouble] {
    var troubles: [AppTrouble] = []
    let day = zone.local(now).date.dayNumber
    if let most = app.plan.broadcasts, try transaction.apps.broadcasts(of: app.id, on: day) >= most {
      let text = Phrase("The plan's pushes to everyone are used up for today.", "今日的全员推送次数已用完。")
      troubles.append(AppTrouble(TroubleIdentity(.broadcasts), text))
    }
    if let oldest = try transaction.callbacks.oldestWaiting(of: app.id),
      oldest.adding(seconds: longestWait) <= now
    {
      let text = Phrase("Callbacks have been waiting for more than 10 minutes.", "有回调等待超过 10 分钟。")
      troubles.append(AppTrouble(TroubleIdentity(.callbacks), text))
    }
    if stopped?.contains(app.id) == false { return troubles }
    return troubles + (try canaries(of: app, transaction, at: now))
  }

  /// The same of those of some apps of which the database may know any.
  static func stored(
    of apps: [App], rows: AppRows, in transaction: ReadTransaction, _ zone: any Zone, at now: Timestamp
  ) throws(StorageError) -> [AppID: [AppTrouble]] {
    let senders = try transaction.callbacks.senders(after: AppID(0), limit: mostSenders, in: rows)
    let stopped = try transaction.canaries.appsInTrouble(
      from: now.adding(seconds: -canarySeconds), to: now, in: rows)
    let waiting = stopped.union(senders.map(\.app))
    var troubles: [AppID: [AppTrouble]] = [:]
    for app in apps where app.plan.broadcasts != nil || waiting.contains(app.id) {
      troubles[app.id] = try stored(of: app, stopped: stopped, in: transaction, zone, at: now)
    }
    return troubles
  }
}

extension AppTrouble {
  /// That a canary has stopped; nil if it waits.
  fileprivate init?(_ canary: CanaryRow) {
    guard let end = canary.end else { return nil }
    let (id, rest) = (canary.id.text, String(canary.rest.count))
    let figures = end.figures ?? (succeeded: 0, failed: 0)
    let (failed, known) = (String(figures.failed), String(figures.succeeded + figures.failed))
    let phrase =
      switch end.state {
      case .tooManyFailures:
        Phrase(
          "The push \(id) stopped after its canary: it failed for \(failed) of \(known) devices. "
            + "The other \(rest) do not get it.",
          "推送 \(id) 在灰度发送后停止：\(known) 台设备中有 \(failed) 台失败，其余 \(rest) 台不会收到。")
      case .tooLittleKnown:
        Phrase(
          "The push \(id) stopped after its canary: too little was known of how it did. "
            + "The other \(rest) devices do not get it.",
          "推送 \(id) 在灰度发送后停止：已知结果过少，其余 \(rest) 台设备不会收到。")
      default:
        Phrase(
          "The push \(id) could not be sent to the rest after its canary. Its page says why.",
          "推送 \(id) 在灰度发送后无法发送给其余设备，原因见推送详情页。")
      }
    self.init(TroubleIdentity(.canary, service: id), phrase)
  }
}
