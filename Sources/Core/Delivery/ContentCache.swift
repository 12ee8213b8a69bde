import BorealisBase
import Model
import Storage
import Synchronization

/// Contents of recent pushes, so that a device which reconnects shortly after does not cost a read. First in,
/// first out, bounded in bytes.
///
/// They are encoded in a few large reused blocks. An allocation for each, among short-lived ones, would
/// fragment memory for hours.
final class ContentCache: Sendable {
  private struct Place: Sendable {
    /// Blocks are counted from the first that ever was.
    let block: Int
    let start: UInt32
    let count: UInt32
    let strategy: Strategy
    /// Whose notification another channel brings.
    let elsewhere: NumberSet?
    /// Whose it brings later.
    let fallback: PushFallback?
    let languages: PushLanguages?
  }

  private struct Block: Sendable {
    var bytes: [UInt8] = []
    var ids: [MessageID] = []
    /// About what is kept of its pushes in other languages.
    var languageBytes = 0

    /// About what it takes, with the places of its contents.
    var size: Int { bytes.count + 64 * ids.count + languageBytes }
  }

  private struct State: Sendable {
    var places: [MessageID: Place] = [:]
    /// Oldest first; the last is being filled.
    var blocks: [Block] = []
    /// How many blocks there were before the first of `blocks`.
    var gone = 0
    var size = 0
    /// An emptied block, for its memory.
    var spare: Block?
    /// Recently used contents, decoded: many devices read the same broadcast.
    var decoded: [MessageID: StoredPush] = [:]
    /// How often stored pushes were changed or erased, in parts by their IDs.
    var changes = [UInt32](repeating: 0, count: ContentCache.changeParts)

    mutating func noteChange(of id: MessageID) { changes[ContentCache.part(of: id)] &+= 1 }

    mutating func insert(_ id: MessageID, _ content: [UInt8], _ push: StoredPush, _ limit: Int) {
      let more = content.count + (push.languages?.bytes ?? 0)
      let isFull = blocks.last.map {
        !$0.ids.isEmpty && $0.bytes.count + $0.languageBytes + more > ContentCache.blockBytes(limit)
      }
      if isFull ?? true {
        var block = spare ?? Block()
        spare = nil
        block.bytes.reserveCapacity(ContentCache.blockBytes(limit))
        blocks.append(block)
      }
      let last = blocks.count - 1
      places[id] = Place(
        block: gone + last, start: UInt32(blocks[last].bytes.count), count: UInt32(content.count),
        strategy: push.strategy, elsewhere: push.elsewhere, fallback: push.fallback,
        languages: push.languages)
      decoded[id] = nil
      size -= blocks[last].size
      blocks[last].bytes += content
      blocks[last].ids.append(id)
      blocks[last].languageBytes += more - content.count
      size += blocks[last].size
      while size > limit, blocks.count > 1 { dropFirst() }
    }

    private mutating func dropFirst() {
      var block = blocks.removeFirst()
      size -= block.size
      for id in block.ids where places[id]?.block == gone {
        places[id] = nil
        decoded[id] = nil
      }
      gone += 1
      block.bytes.removeAll(keepingCapacity: true)
      block.ids.removeAll(keepingCapacity: true)
      block.languageBytes = 0
      spare = block
    }
  }

  /// Parts in which changes are counted, so that a change of one push says nothing about most others.
  private static let changeParts = 256

  /// IDs are mostly multiples of 4096.
  private static func part(of id: MessageID) -> Int { Int(id.rawValue >> 12) & (changeParts - 1) }

  /// Contents that are kept decoded.
  private static let decodedLimit = 128

  /// Bytes of a block: a small part of all.
  private static func blockBytes(_ limit: Int) -> Int { min(256 * 1024, limit / 4) }

  private let byteLimit: Int
  private let state = Mutex(State())

  init(byteLimit: Int) { self.byteLimit = byteLimit }

  /// The bytes that are held now, the places of the contents included.
  var size: Int { state.withLock { $0.size } }

  func find(_ id: MessageID) -> StoredPush? {
    let (known, encoded) = state.withLock { state -> (StoredPush?, (Place, [UInt8])?) in
      if let known = state.decoded[id] { return (known, nil) }
      guard let place = state.places[id] else { return (nil, nil) }
      let bytes = state.blocks[place.block - state.gone].bytes
      return (nil, (place, Array(bytes[Int(place.start)..<Int(place.start + place.count)])))
    }
    guard let (place, bytes) = encoded, let content = PushContent(decoding: bytes) else { return known }
    let push = StoredPush(
      content: content, strategy: place.strategy, elsewhere: place.elsewhere, fallback: place.fallback,
      languages: place.languages)
    state.withLock { state in
      // It may have been removed, or replaced by another, in the meantime.
      guard let now = state.places[id], now.block == place.block, now.start == place.start else { return }
      if state.decoded.count >= Self.decodedLimit { state.decoded.removeAll(keepingCapacity: true) }
      state.decoded[id] = push
    }
    return push
  }

  /// Which of some pushes have their contents here.
  func known(among ids: [MessageID]) -> Set<MessageID> {
    state.withLock { state in Set(ids.filter { state.places[$0] != nil }) }
  }

  /// Adds a new push, whose content is given in its encoded form as well.
  func insert(_ id: MessageID, _ push: StoredPush, encoded content: [UInt8]) {
    state.withLock { $0.insert(id, content, push, byteLimit) }
  }

  /// Puts a push, as it is stored now, in the place of what was known of it.
  func replace(_ id: MessageID, _ push: StoredPush) {
    let content = push.content.encode()
    state.withLock { state in
      state.noteChange(of: id)
      state.insert(id, content, push, byteLimit)
    }
  }

  /// A moment before pushes are read from the database.
  struct Moment: Sendable {
    fileprivate let changes: [UInt32]
  }

  /// The moment now.
  var now: Moment { Moment(changes: state.withLock { $0.changes }) }

  /// Adds a push that was read from the database since a moment. False if it may have been changed or erased
  /// since: it is to be read again.
  func insert(_ id: MessageID, _ push: StoredPush, readSince moment: Moment) -> Bool {
    let content = push.content.encode()
    return state.withLock { state in
      let part = Self.part(of: id)
      guard state.changes[part] == moment.changes[part] else { return false }
      state.insert(id, content, push, byteLimit)
      return true
    }
  }

  /// Forgets pushes that are erased.
  func remove(_ ids: [MessageID]) {
    state.withLock { state in
      for id in ids {
        state.noteChange(of: id)
        state.places[id] = nil
        state.decoded[id] = nil
      }
    }
  }

  /// Forgets all: what another home has changed must not be taken from here.
  func removeAll() {
    state.withLock { state in
      let changes = state.changes.map { $0 &+ 1 }
      state = State()
      state.changes = changes
    }
  }
}
