import BorealisBase
import Model
import Storage

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

  /// What a device says of a push.
  typealias Word = (id: MessageID, kind: DeviceReports.Kind)

  /// A device that says something.
  struct Speaker: Hashable, Sendable {
    let app: AppID
    let number: RegistrationNumber
  }

  /// How often devices named pushes that the database does not know, in a minute.
  struct UnknownPushes: Sendable {
    /// Devices that are remembered.
    static let most = 65_536
    /// From so many words on a device is believed only about pushes known in memory, until the minute is
    /// over. A device that comes back after long, and whose pushes have been deleted, names some.
    static let tolerated = 256

    private var counts: [Speaker: Int] = [:]
    private var until = Timestamp(milliseconds: 0)

    mutating func note(_ speakers: [Speaker], at now: Timestamp) {
      if until <= now || until > now.adding(seconds: 60) {
        counts = [:]
        until = now.adding(seconds: 60)
      }
      for speaker in speakers where counts[speaker] != nil || counts.count < Self.most {
        counts[speaker, default: 0] += 1
      }
    }

    func makeDoubtful(_ speaker: Speaker, at now: Timestamp) -> Bool {
      guard let count = counts[speaker] else { return false }
      return count >= Self.tolerated && now < until
    }
  }

  struct Waiting: Sendable {
    var ends = FIFO<End>()
    var partly: [MessageID: Partly] = [:]
    var words: [AppID: [MessageID: DeviceReports]] = [:]
    /// The apps that have any, in the order in which they are written.
    private var turns = FIFO<AppID>()
    /// Words that the database refused for the sake of some of them: each push's go alone.
    var suspects = FIFO<Suspect>()
    /// How many these are, of how many pushes, and how many of both are each app's.
    private(set) var wordCount = 0
    private(set) var wordyCount = 0
    private var shares: [AppID: (words: Int, pushes: Int)] = [:]
    /// How many words a device has said since the last flush.
    var spoken: [Speaker: Int] = [:]
    var unknownPushes = UnknownPushes()
    /// Whose acknowledgements these are.
    var credits: [StoredAcknowledgements] = []
    /// A flush is under way, and another one is wanted after it.
    var isFlushing = false
    var mustFlushAgain = false
    /// The last batch was refused: no further tries before the next tick.
    var isHeldUp = false
    /// How many batches were refused.
    private(set) var refusals = 0
    var ages = WriteAges()

    mutating func holdUp() {
      isHeldUp = true
      refusals += 1
    }

    mutating func removePartly(_ id: MessageID) -> (id: MessageID, partly: Partly)? {
      partly.removeValue(forKey: id).map { (id, $0) }
    }

    /// Adds reports of a device as far as there is room; returns the rest if their pushes are not
    /// known in memory.
    mutating func add(_ words: [Word], by speaker: Speaker, areKnown: Bool, at now: Timestamp) -> [Word] {
      var left: [Word] = []
      var count = spoken[speaker] ?? 0
      for (id, kind) in words {
        guard count + left.count < WriteBehind.wordsOfDevice else { break }
        let key = DeviceReports.Key(id: id, app: speaker.app)
        guard hasRoom(for: key, isKnown: areKnown) else {
          left.append((id, kind))
          continue
        }
        add(DeviceReports(kind, speaker.number, at: now), key)
        count += 1
      }
      if count > 0 { spoken[speaker] = count }
      return left
    }

    /// As many of a device's words as it may still say, none of them taken.
    func unspoken(_ words: [Word], by speaker: Speaker) -> [Word] {
      Array(words.prefix(max(0, WriteBehind.wordsOfDevice - (spoken[speaker] ?? 0))))
    }

    /// Whether there is room for another word of an app: about pushes that are not known in memory half of
    /// it.
    func hasRoom(for key: DeviceReports.Key, isKnown: Bool) -> Bool {
      let share = shares[key.app] ?? (0, 0)
      let part = isKnown ? 1 : 2
      let mostWords = WriteBehind.wordLimit / part
      guard wordCount < mostWords, share.words < mostWords / 4 else { return false }
      let mostPushes = WriteBehind.wordyPushes / part
      return wordyCount < mostPushes && share.pushes < mostPushes / 4 || words[key.app]?[key.id] != nil
    }

    mutating func add(_ new: DeviceReports, _ key: DeviceReports.Key) {
      if words[key.app] == nil { turns.append(key.app) }
      count(new.count, pushes: words[key.app]?[key.id] == nil ? 1 : 0, of: key.app)
      words[key.app, default: [:]][key.id, default: DeviceReports()].add(new)
    }

    mutating func add(_ suspect: Suspect) {
      count(suspect.words.count, pushes: 1, of: suspect.key.app)
      suspects.append(suspect)
    }

    mutating func popSuspects(_ limit: Int) -> [Suspect] {
      let taken = suspects.popFirst(upTo: limit)
      for one in taken { count(-one.words.count, pushes: -1, of: one.key.app) }
      return taken
    }

    /// Removes and returns the reports of some pushes, at most of half as many of one app if others have any:
    /// apps take turns.
    mutating func popReports(_ limit: Int) -> [(key: DeviceReports.Key, words: DeviceReports)] {
      var taken: [(key: DeviceReports.Key, words: DeviceReports)] = []
      while taken.count < limit, let app = turns.popFirst() {
        let most = turns.isEmpty ? limit - taken.count : min(limit - taken.count, max(1, limit / 2))
        for id in Array((words[app] ?? [:]).keys.prefix(most)) {
          guard let gone = words[app]?.removeValue(forKey: id) else { continue }
          count(-gone.count, pushes: -1, of: app)
          taken.append((DeviceReports.Key(id: id, app: app), gone))
        }
        if words[app]?.isEmpty == false { turns.append(app) } else { words[app] = nil }
      }
      return taken
    }

    private mutating func count(_ words: Int, pushes: Int, of app: AppID) {
      wordCount += words
      wordyCount += pushes
      let share = shares[app] ?? (0, 0)
      shares[app] = share.pushes + pushes > 0 ? (share.words + words, share.pushes + pushes) : nil
    }

    /// Of how many pushes something waits, those counted again of which several things do.
    var pushCount: Int { ends.count + partly.count + wordyCount }

    /// Notes that something waits from a moment on; whether it is time to write.
    mutating func noteAge(at now: UInt64) -> Bool {
      ages.note(at: now)
      return isOld(at: now)
    }

    /// Whether it is time to write.
    func isOld(at now: UInt64) -> Bool { ages.isOld(at: now) && !isHeldUp }

    var hasBatch: Bool { ends.count >= WriteBehind.batch && !isHeldUp }
  }
}

/// Since when something waits to be stored, and what is on its way to the database.
struct WriteAges: Sendable {
  /// Nanoseconds after which acknowledgements are written: they share a commit until then.
  static let old: UInt64 = 400_000_000

  /// The first moment since the last departure.
  private var waiting: UInt64?
  private var flights: [Int: UInt64] = [:]
  private var departures = 0

  /// Something waits from a moment of `TimeSource.monotonic` on.
  mutating func note(at now: UInt64) { waiting = waiting ?? now }

  /// Whether something has waited for so long.
  func isOld(at now: UInt64) -> Bool { waiting.map { now &- $0 >= Self.old } ?? false }

  /// What waits is written from now on.
  mutating func depart() -> Int {
    departures += 1
    flights[departures] = waiting
    waiting = nil
    return departures
  }

  /// It is stored, or waits again.
  mutating func land(_ flight: Int, isStored: Bool) {
    guard let moment = flights.removeValue(forKey: flight), !isStored else { return }
    waiting = min(waiting ?? moment, moment)
  }

  /// The oldest moment; nil if all is stored.
  var oldest: UInt64? { ([waiting].compactMap { $0 } + flights.values).min() }
}
