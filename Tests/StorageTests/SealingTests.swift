import BorealisBase
import BorealisCrypto
import Model
import PushTesting
import Synchronization
import Testing

@testable import Storage

/// What apps store is sealed if they ask for it, and opens again whatever becomes of the keys.
@Suite struct SealingTests {
  private let folder = TemporaryFolder()
  private let file = KeyFile()

  /// A secret key file in memory.
  private final class KeyFile: Sendable {
    private let lines = Mutex<[String]>([])

    /// Puts a new key in front.
    func add() { lines.withLock { $0.insert(SealingKeys.makeLine(), at: 0) } }
    /// Leaves only the key in front.
    func dropOld() { lines.withLock { $0 = Array($0.prefix(1)) } }
    func remove() { lines.withLock { $0 = [] } }
    var text: String { lines.withLock { $0.joined() } }

    var source: SecretKeySource {
      SecretKeySource { inUse in
        if inUse.isEmpty, self.text.isEmpty { self.add() }
        guard let keys = try? SealingKeys(text: self.text), inUse.isSubset(of: keys.ids) else {
          return .failure(StorageError(.noSecretKey, "it is missing"))
        }
        return .success(keys)
      }
    }
  }

  private func open(besideServer: Bool = false) throws -> Store {
    var options = Store.Options()
    options.secretKeys = file.source
    options.isServer = !besideServer
    options.migrates = !besideServer
    return try Store.testing(folder, options: options)
  }

  private static let marker = "marker-51c0-of-a-content"
  private static let text = Array(marker.utf8)

  /// Writes a content into each of the columns that hold any, and tells the schedule's name.
  private func fill(_ store: Store, _ app: AppID, from id: UInt64) async throws {
    try await store.change { t throws(StorageError) in
      guard let key = try t.apps.find(app)?.key else { return }
      try t.pushes.insert(
        .single(id, app: app, target: 1, content: [1] + Self.text),
        from: PushSource(object: Array("{\"a\":\"".utf8) + Self.text))
      try t.callbacks.insertPush(
        PushCallbackRow(id: MessageID(id), url: nil, types: .all, sendno: 1, params: Self.text), app: app)
      try t.callbacks.insertBatch(
        app: app, to: nil, events: 1, body: Self.text, at: .start, until: .start.adding(seconds: 9))
      let moment = ScheduleRow.Occurrence(local: LocalTime(count: 1), at: .start)
      let schedule = try t.schedules.insert(
        ScheduleRow(
          app: app, uuid: "s\(id)", cid: nil, name: "n", trigger: [], push: Self.text, createdAt: .start,
          next: moment, last: moment))
      try t.getui.insertTask(
        GetuiTaskRow(
          id: MessageID(id), app: app, requestID: "r\(id)", groupName: "", createdAt: .start,
          expiresAt: .start, body: Self.text))
      try t.getui.insertTask(
        GetuiTaskRow(
          id: MessageID(id + 1), app: app, requestID: "t\(id)", groupName: "", createdAt: .start,
          expiresAt: .start, scheduleID: schedule, body: []))
      let pieces = NewFile(
        owner: key.text, fileID: "f\(id)", kind: .aliases, name: "n", count: 1, pieces: [Self.text])
      guard let number = try t.files.begin(pieces, limit: 9, at: .start, expiresAt: .start.adding(seconds: 9))
      else { return }
      try t.files.addPiece(number, number: 0, lines: Self.text)
      try t.files.complete(number, at: .start)
    }
  }

  /// All contents of a push and what belongs to it, as they are read.
  private func contents(_ store: Store, _ app: AppID, _ id: UInt64) async throws -> [[UInt8]?] {
    try await store.look { t throws(StorageError) in
      let push = MessageID(id)
      guard let key = try t.apps.find(app)?.key else { return [] }
      let file = try t.files.find(owner: key.text, "f\(id)", at: .start)
      let destination = CallbackDestination(app: app, origin: "")
      return [
        try t.pushes.find(id: push)?.content, try t.pushes.contents(of: [push])[0]?.content,
        try t.pushes.history(of: app, limit: 1, looks: 100) { $0.id == push }.pushes.first?.content,
        try t.pushes.latest(app: app, of: RegistrationNumber(1), limit: 9, depth: 100, groups: 10) { _, _ in
          false
        }.pushes
          .first { $0.id == push }?.content,
        try t.pushes.object(of: push), try t.pushes.source(of: push)?.source.object,
        try t.pushes.history(of: app, limit: 1, looks: 100) { $0.id == push }.pushes.first?.object,
        try t.callbacks.push(of: push, app: app)?.params,
        try t.callbacks.due(destination, at: .start, limit: 1).first?.body,
        try t.callbacks.batch(app: app, id: 1)?.body, try t.schedules.find(app: app, uuid: "s\(id)")?.push,
        try t.schedules.due(at: .start, limit: 1, in: .all).rows.first?.push,
        try t.getui.task(push, app: app)?.body,
        try t.getui.task(requestID: "r\(id)", app: app)?.body,
        try t.getui.timedTask(MessageID(id + 1), app: app)?.schedule?.push,
        try file.map { file throws(StorageError) in try t.files.piece(file.id, 0) } ?? nil,
      ]
    }
  }

  private static let expected: [[UInt8]?] = {
    let (content, object) = ([1] + text, Array("{\"a\":\"".utf8) + text)
    return Array(repeating: content, count: 4) + Array(repeating: object, count: 3)
      + Array(repeating: text, count: 9)
  }()

  private static let columns: StaticString = """
    SELECT content AS bytes FROM push UNION ALL SELECT object FROM push UNION ALL SELECT push_json FROM schedule
    UNION ALL SELECT body FROM getui_task UNION ALL SELECT params FROM push_callback
    UNION ALL SELECT body FROM callback_batch UNION ALL SELECT lines FROM file_piece
    """

  /// How often the marker stands in the files of the database.
  private func found() throws -> Int {
    if PostgresCluster.isChosen {
      return try folder.store().openToRead().all(Self.columns) { $0.blob("bytes") }.count {
        String(decoding: $0, as: UTF8.self).contains(Self.marker)
      }
    }
    return ["", "-wal"].reduce(0) { count, end in
      count + TemporaryFolder.read(folder.database + end).ranges(of: Self.marker).count
    }
  }

  private func set(_ store: Store, _ app: AppID, _ isOn: Bool) async throws {
    let isKnown = try await store.change { t throws(StorageError) in
      try t.sealing.set(app: app, isOn, at: .start)
    }
    #expect(isKnown)
  }

  private func reseal(_ store: Store) throws -> Int {
    var work = try #require(try ContentResealing(store))
    // One at a time: each step goes on where the one before ended.
    work.rows = 1
    while let step = try work.next() { try work.store(step) }
    try work.finish()
    #expect(work.damaged == 0)
    return work.resealed
  }

  /// How many values of all columns are sealed, and with how many of these another key than the first of the
  /// file opens them.
  private func sealedRows() throws -> (all: Int, old: Int) {
    let heads = try folder.store().openToRead().all(Self.columns) { Array($0.blob("bytes").prefix(10)) }
      .filter { $0.first == ContentVault.mark }
    let id = Hex.decode(try SealingKeys(text: file.text).currentID) ?? []
    return (heads.count, heads.count { $0 != [ContentVault.mark, 1] + id })
  }

  @Test func `All contents are sealed from when an app asks for it until it does not`() async throws {
    let store = try open()
    let app = try await store.addApp(registrations: 2)
    let other = try await store.addApp(registrations: 2)
    try await set(store, app, true)
    try await fill(store, app, from: 10)
    #expect(try found() == 0)
    #expect(try await contents(store, app, 10) == Self.expected)
    try await fill(store, other, from: 20)
    let plain = try found()
    #expect(plain >= 7, "an app that does not ask has its contents as they are")
    try await set(store, app, false)
    try await fill(store, app, from: 30)
    #expect(try found() >= plain * 2, "turning it off holds for what is stored from then on")
    #expect(try await contents(store, app, 10)[0] == Self.expected[0], "what is stored stays as it is")
    store.close()
  }

  @Test func `What another process changes holds from the next content on`() async throws {
    let store = try open()
    let app = try await store.addApp(registrations: 2)
    try await fill(store, app, from: 10)
    let command = try open(besideServer: true)
    try await set(command, app, true)
    #expect(try sealedRows().all == 0)
    try await fill(store, app, from: 20)
    #expect(try sealedRows().all == 7)
    try await set(command, app, false)
    try await fill(store, app, from: 30)
    #expect(try sealedRows().all == 7)
    for each in [store, command] { each.close() }
  }

  /// Such as a damaged content that could not be sealed anew: it must not stop those who read it among
  /// others.
  @Test func `What names a key that nothing counts on is damaged`() async throws {
    let store = try open()
    let app = try await store.addApp(registrations: 2)
    try await set(store, app, true)
    try await fill(store, app, from: 10)
    file.add()
    try await store.change { t throws(StorageError) in
      guard let current = try t.sealing.useFirstKey() else { return }
      try t.sealing.forgetKeys(before: current)
    }
    store.close()
    file.dropOld()
    let again = try open()
    try await fill(again, app, from: 20)
    #expect(try await contents(again, app, 10)[0] == [])
    #expect(try await contents(again, app, 20)[0] == Self.expected[0])
    again.close()
  }

  @Test func `A key goes once its contents are sealed anew, beside a program that still has it`() async throws
  {
    let store = try open()
    let app = try await store.addApp(registrations: 2)
    try await set(store, app, true)
    try await fill(store, app, from: 10)
    file.add()
    let command = try open(besideServer: true)
    #expect(try reseal(command) == 7)
    // The first program reads the file again, although it has a key that would do.
    try await fill(store, app, from: 20)
    file.dropOld()
    let second = try open(besideServer: true)
    for each in [store, command, second] {
      #expect(try await contents(each, app, 10)[4] == Self.expected[4])
      #expect(try await contents(each, app, 20)[4] == Self.expected[4])
    }
    #expect(try reseal(second) == 0)
    let keys = try await second.look { t throws(StorageError) in try t.credentials.allSealed() }
    #expect(SealingKeys.ids(of: keys) == [try SealingKeys(text: file.text).currentID])
    for each in [store, command, second] { each.close() }
    #expect(try found() == 0)
  }

  /// An app group's file, with a group that has these apps; its number.
  private func addGroupFile(_ store: Store, of apps: [AppID]) async throws -> Int64? {
    try await store.change { t throws(StorageError) in
      let key = AppKey(high: 5, low: UInt32(apps.count))
      let group = try t.appGroups.create(
        key: key, name: "g", secretHash: [UInt8](repeating: 0, count: 32), at: .start)
      for app in apps {
        if let key = try t.apps.find(app)?.key { _ = try t.appGroups.addApp(key, toGroup: group) }
      }
      let pieces = NewFile(
        owner: key.text, fileID: "g\(apps.count)", kind: .aliases, name: "n", count: 1, pieces: [Self.text])
      guard
        let number = try t.files.begin(pieces, limit: 9, at: .start, expiresAt: .start.adding(seconds: 9))
      else { return nil }
      try t.files.addPiece(number, number: 0, lines: Self.text)
      try t.files.complete(number, at: .start)
      return number
    }
  }

  @Test func `A file of an app group is sealed if any of its apps asks for it`() async throws {
    let store = try open()
    let (app, other) = (try await store.addApp(registrations: 1), try await store.addApp(registrations: 1))
    try await set(store, app, true)
    let sealed = try #require(try await addGroupFile(store, of: [other, app]))
    #expect(try found() == 0)
    let plain = try #require(try await addGroupFile(store, of: [other]))
    #expect(try found() > 0)
    for number in [sealed, plain] {
      let lines = try await store.look { t throws(StorageError) in try t.files.piece(number, 0) }
      #expect(lines == Self.text)
    }
    store.close()
  }

  @Test func `No row is left under the old key, nor those whose push or group is gone`() async throws {
    let store = try open()
    let (app, other) = (try await store.addApp(registrations: 2), try await store.addApp(registrations: 2))
    for one in [other, app] { try await set(store, one, true) }
    try await fill(store, other, from: 20)
    try await fill(store, app, from: 10)
    let lines = try #require(try await addGroupFile(store, of: [app]))
    try await store.change { t throws(StorageError) in
      try t.database.run("DELETE FROM push WHERE msg_id = 10")
      try t.database.run("DELETE FROM app_group_member")
      try t.database.run("DELETE FROM app_group")
    }
    file.add()
    let before = try sealedRows()
    #expect(before.all == before.old && before.all == 13)
    #expect(try reseal(store) == 13)
    #expect(try sealedRows() == (13, 0))
    file.dropOld()
    store.close()
    let again = try open()
    let read = try await again.look { t throws(StorageError) in
      [try t.files.piece(lines, 0), try t.callbacks.push(of: MessageID(10), app: app)?.params]
    }
    #expect(read == [Self.text, Self.text])
    again.close()
  }

  /// A large installation: no step writes much more than a megabyte, others write between reading and storing
  /// one, and what they change stays as they left it.
  @Test func `Contents are sealed anew in small steps beside others who write`() async throws {
    let store = try open()
    let app = try await store.addApp(registrations: 2)
    try await set(store, app, true)
    let (count, size) = (3000, 4000)
    for start in stride(from: 0, to: count, by: 500) {
      try await store.change { t throws(StorageError) in
        for id in start..<start + 500 {
          try t.pushes.insert(
            .single(UInt64(id + 1), app: app, target: 1, content: [UInt8](repeating: 1, count: size)))
        }
      }
    }
    file.add()
    let command = try open(besideServer: true)
    var work = try #require(try ContentResealing(command))
    var (steps, next) = (0, UInt64(count))
    while let step = try work.next() {
      // The last one found nothing.
      guard let first = step.contents.first else { continue }
      #expect(step.size <= ContentResealing.bytes + 2 * size)
      steps += 1
      // One of this step goes, and another one comes.
      let gone = MessageID(UInt64(truncatingIfNeeded: first.old.row.0))
      next += 1
      let new = PushRow.single(next, app: app, target: 1, content: [2])
      try await store.change { t throws(StorageError) in
        try t.pushes.delete([gone])
        try t.pushes.insert(new)
      }
      try work.store(step)
      let found = try await store.look { t throws(StorageError) in try t.pushes.find(id: gone) }
      #expect(found == nil)
    }
    try work.finish()
    #expect(steps >= count * size / (ContentResealing.bytes + 2 * size))
    #expect(work.resealed == count && work.damaged == 0)
    #expect(try sealedRows() == (count, 0))
    store.close()
    command.close()
  }

  @Test func `A pass ends when another one with another key has begun`() async throws {
    let store = try open()
    let app = try await store.addApp(registrations: 2)
    try await set(store, app, true)
    try await fill(store, app, from: 10)
    file.add()
    var first = try #require(try ContentResealing(store))
    let step = try #require(try first.next())
    file.add()
    let command = try open(besideServer: true)
    #expect(try reseal(command) == 7)
    #expect(throws: StorageError.self) { try first.store(step) }
    #expect(throws: StorageError.self) {
      var again = first
      _ = try again.next()
      _ = try again.next()
    }
    #expect(try sealedRows() == (7, 0))
    store.close()
    command.close()
  }

  @Test func `Without the key nothing is written in plain text, and reading says why`() async throws {
    var store = try open()
    let app = try await store.addApp(registrations: 2)
    try await set(store, app, true)
    try await fill(store, app, from: 10)
    store.close()
    file.remove()
    store = try open()
    await #expect { try await fill(store, app, from: 20) } throws: { error in
      guard let error = error as? StorageError, case .noSecretKey = error.kind else { return false }
      return true
    }
    await #expect(throws: StorageError.self) { try await contents(store, app, 10) }
    #expect(try found() == 0)
    store.close()
  }

  @Test(.onSQLite)
  func `A content that was changed, or comes from elsewhere, is unreadable and nothing else`()
    async throws
  {
    let store = try open()
    let (app, other) = (try await store.addApp(registrations: 2), try await store.addApp(registrations: 2))
    try await set(store, app, true)
    try await set(store, other, true)
    try await fill(store, app, from: 10)
    try await fill(store, other, from: 20)
    store.close()
    let database = try Database(path: folder.database, mode: .create)
    // One app's content in the place of another's, an object in the place of a content, a byte that is
    // another.
    try database.run(
      "UPDATE push SET content = (SELECT content FROM push WHERE msg_id = 10) WHERE msg_id = 20")
    try database.run("UPDATE push SET object = content WHERE msg_id = 10")
    try database.run(
      "UPDATE getui_task SET body = CAST(body || x'00' AS BLOB) WHERE id = 10")
    let again = try open()
    #expect(try await contents(again, other, 20)[0] == [])
    #expect(try await contents(again, app, 10)[4] == [])
    #expect(try await contents(again, app, 10)[12] == [])
    again.close()
  }
}
