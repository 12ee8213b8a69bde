import PushBase
import PushDomain
import PushStorage

/// What waits to be written, and how it is counted.
extension WriteBehind {
  /// The end of a push, with what its storing needs.
  struct End: Sendable {
    let push: EndedPush
    let app: AppID
    let at: Timestamp
    /// The job that it was in was refused for the sake of one in it: it goes alone.
    var isSuspect = false
  }

  /// What was acknowledged of an open push since its sets were last stored.
  struct Partly: Sendable {
    let app: App
    var acknowledgers: [RegistrationNumber] = []
    /// When it reached each of them.
    var moments: [Timestamp] = []
    /// The database has refused them once, for their own sake.
    var isSuspect = false
  }

  /// Words of devices of one push, and how often they were refused alone.
  struct Suspect: Sendable {
    let key: DeviceReports.Key
    let words: DeviceReports
    var tries = 0
  }

  struct Speaker: Hashable, Sendable {
    let app: AppID
    let number: RegistrationNumber
    let kind: DeviceReports.Kind
  }

  struct Waiting: Sendable {
    var ends = FIFO<End>()
    var partly: [MessageID: Partly] = [:]
    var words: [DeviceReports.Key: DeviceReports] = [:]
    /// Words that the database refused for the sake of some of them: each push's go alone.
    var suspects = FIFO<Suspect>()
    /// How many these are, and how many of them, of how many pushes, are each app's.
    var wordCount = 0
    var shares: [AppID: (words: Int, pushes: Int)] = [:]
    /// How many of each kind a device has said since the last flush.
    var spoken: [Speaker: Int] = [:]
    /// Whose acknowledgements these are.
    var credits: [StoredAcknowledgements] = []
    /// A flush is under way, and another one is wanted after it.
    var isFlushing = false
    var mustFlushAgain = false
    /// The last batch was refused: no further tries before the next tick.
    var isHeldUp = false

    mutating func takePartly(_ id: MessageID) -> (id: MessageID, partly: Partly)? {
      partly.removeValue(forKey: id).map { (id, $0) }
    }

    /// Whether there is room for another word of an app.
    func hasRoom(for key: DeviceReports.Key) -> Bool {
      let share = shares[key.app] ?? (0, 0)
      guard wordCount < WriteBehind.wordLimit, share.words < WriteBehind.wordLimit / 4 else { return false }
      return words.count < WriteBehind.wordyPushes && share.pushes < WriteBehind.wordyPushes / 4
        || words[key] != nil
    }

    mutating func add(_ new: DeviceReports, _ key: DeviceReports.Key) {
      count(new.count, pushes: words[key] == nil ? 1 : 0, of: key.app)
      words[key, default: DeviceReports()].add(new)
    }

    mutating func add(_ suspect: Suspect) {
      count(suspect.words.count, pushes: 1, of: suspect.key.app)
      suspects.append(suspect)
    }

    mutating func takeSuspects(_ limit: Int) -> [Suspect] {
      let taken = suspects.take(limit)
      for one in taken { count(-one.words.count, pushes: -1, of: one.key.app) }
      return taken
    }

    mutating func takeReports(_ limit: Int) -> [(key: DeviceReports.Key, words: DeviceReports)] {
      let taken = words.prefix(limit).map { (key: $0.key, words: $0.value) }
      for (key, gone) in taken {
        words[key] = nil
        count(-gone.count, pushes: -1, of: key.app)
      }
      return taken
    }

    private mutating func count(_ words: Int, pushes: Int, of app: AppID) {
      wordCount += words
      let share = shares[app] ?? (0, 0)
      shares[app] = share.pushes + pushes > 0 ? (share.words + words, share.pushes + pushes) : nil
    }

    /// Of how many pushes something waits, those counted again of which several things do.
    var pushCount: Int { ends.count + partly.count + words.count + suspects.count }

    var hasBatch: Bool { ends.count >= WriteBehind.batch && !isHeldUp }
  }
}
