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

  /// What the database knows of an app on a day of `zone`.
  static func stored(
    of app: App, in transaction: ReadTransaction, _ zone: any Zone, at now: Timestamp
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
    return troubles
  }

  /// The same of those of some apps of which the database may know any.
  static func stored(
    of apps: [App], rows: AppRows, in transaction: ReadTransaction, _ zone: any Zone, at now: Timestamp
  ) throws(StorageError) -> [AppID: [AppTrouble]] {
    let senders = try transaction.callbacks.senders(after: AppID(0), limit: mostSenders, in: rows)
    let waiting = Set(senders.map(\.app))
    var troubles: [AppID: [AppTrouble]] = [:]
    for app in apps where app.plan.broadcasts != nil || waiting.contains(app.id) {
      troubles[app.id] = try stored(of: app, in: transaction, zone, at: now)
    }
    return troubles
  }
}
