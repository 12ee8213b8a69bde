import BorealisBase
import Model
import PushTesting
import Testing

@testable import Storage

/// What goes over everybody's rows, beside other homes.
@Suite struct HomeScopeTests {
  @Test(arguments: [
    (
      AppRows.all, "SELECT a FROM push WHERE {own push.app_id} ORDER BY a",
      "SELECT a FROM push WHERE 1 = 1 ORDER BY a"
    ),
    (
      .of(AppID(7)), "SELECT a FROM push WHERE {own push.app_id} ORDER BY a",
      "SELECT a FROM push WHERE push.app_id = 7 ORDER BY a"
    ),
    (
      HomeScope.assigned(AssignedApps(home: 5, node: 1, slot: .first)).rows,
      "SELECT a FROM b WHERE c = ? AND ({own b.app_id} OR {own 0})",
      "SELECT a FROM b WHERE c = ? AND (EXISTS (SELECT 1 FROM home WHERE home.app_id = b.app_id AND home.fence = 5) "
        + "OR EXISTS (SELECT 1 FROM home WHERE home.app_id = 0 AND home.fence = 5))"
    ),
  ])
  func `A statement says whose rows it goes over`(rows: AppRows, text: String, expected: String) throws {
    #expect(try SQLText.expand(text, for: .sqlite, in: rows) == expected)
  }

  @Test func `A home has what it has taken over`() {
    let (own, all) = (AssignedApps(home: 1, node: 1, slot: .first), HomeScope.all)
    let scope = HomeScope.assigned(own)
    #expect(all.contains(AppID(4)) && all.hasInstallation)
    #expect(!scope.contains(AppID(4)) && !scope.hasInstallation)
    for app in [AppID(4), .installation] { own.insert(app) }
    #expect(scope.contains(AppID(4)) && scope.hasInstallation && own.all == [AppID(4), .installation])
    own.remove(AppID(4))
    #expect(!scope.contains(AppID(4)))
  }

  // MARK: Rows of three apps

  private static let (one, other) = (
    AssignedApps(home: 71, node: 1, slot: .first), AssignedApps(home: 72, node: 1, slot: .first)
  )

  /// A database with rows of three apps in every table that is swept. The home 71 has the app 1 and what
  /// belongs to none, the home 72 the others. All numbers of an app's rows begin with its own.
  private func makeDatabase(_ cluster: PostgresCluster) throws -> String {
    let name = try cluster.make()
    var script = "INSERT INTO home VALUES (0, 1, 1, 71), (1, 1, 1, 71), (2, 2, 1, 72), (3, 2, 1, 72);"
    for app in 1...3 { script += Self.rows.replacing("#", with: "\(app)") }
    // Of pushes that are gone, of nobody.
    script += """
      INSERT INTO delivered VALUES (901, ''); INSERT INTO receipt VALUES (901, 1, '');
      INSERT INTO dropped VALUES (901, 'x', ''); INSERT INTO fallback VALUES (901, 3, 1, 5, 1, 1, ''); INSERT INTO held_push VALUES (901, 9000, 1, ''); INSERT INTO push_callback VALUES (901, NULL, 1, 1, '');
      INSERT INTO group_push VALUES (902, 1, 1, NULL, 1); INSERT INTO group_push_member VALUES (902, 'k', 903);
      INSERT INTO file VALUES (904, 'group', 'g', 1, 'n', 1, 1, 1, 1, 1);
      """
    try cluster.sql(script, in: name)
    return name
  }

  private static let rows = """
    INSERT INTO app (id, app_key, name, secret_hash, created_at)
      VALUES (#, '#00000000000000000000000', 'n', decode(repeat('00', 32), 'hex'), 1);
    INSERT INTO registration (app_id, number, registration_id, secret_hash, platform, fingerprint, created_at, last_seen_at)
      VALUES (#, 0, decode(repeat('0#', 10), 'hex'), decode(repeat('00', 16), 'hex'), 2, '', 1, 1);
    INSERT INTO push (msg_id, app_id, created_at, expires_at, sendno, platforms, target, target_count, strategy, content)
      VALUES (#01, #, 1, 1, 1, 1, 0, 1, 0, ''), (#02, #, 1, 1, 1, 1, 0, 1, 0, ''), (#03, #, 1, 1, 1, 1, 0, 1, 0, ''),
        (#04, #, 1, 1, 1, 1, 0, 1, 0, '');
    INSERT INTO pending VALUES (#02, #, 0, 1, 0);
    INSERT INTO channel_pending VALUES (#, 2, #03, 1);
    INSERT INTO outcome (msg_id, status, at) VALUES (#01, 1, 1), (#02, 0, 1), (#04, 1, 1);
    UPDATE outcome SET taken_back = 3, taken_back_at = 6000 WHERE msg_id = #04;
    UPDATE push SET target = NULL, targets = '' WHERE msg_id = #02;
    INSERT INTO fallback VALUES (#01, 3, #, 5, 1, 1, ''), (#02, 3, #, 5, #000, 0, '');
    INSERT INTO held_push VALUES (#01, #000, #, ''), (#02, #000, #, '');
    INSERT INTO delivered VALUES (#01, ''), (#02, '');
    INSERT INTO dropped VALUES (#01, 'x', ''), (#02, 'x', '');
    INSERT INTO receipt VALUES (#01, 1, ''), (#02, 1, '');
    INSERT INTO channel_targets VALUES (#01, 2, 0, '', 0, ''), (#03, 2, 0, '', 0, '');
    INSERT INTO channel_taken VALUES (#01, 2, 1, '', ''), (#03, 2, 1, '', '');
    INSERT INTO push_callback VALUES (#01, NULL, 1, 1, ''), (#02, NULL, 1, 1, '');
    INSERT INTO push_sender VALUES (#01, #, 2, 1), (#02, #, 2, 1);
    INSERT INTO steady_push VALUES (#01, #, 1, 1), (#02, #, 1, 9000);
    INSERT INTO cid VALUES (#01, #, 'old', #01, 1, 1, NULL), (#02, #, 'new', #02, 1, 9000, NULL);
    INSERT INTO schedule VALUES (#05, #, 'u#05', NULL, 's', 1, '', '', 1, NULL, NULL, 1, 1),
      (#06, #, 'u#06', NULL, 's', 1, '', '', 1, 10, 10, 10, 9000);
    INSERT INTO schedule_run VALUES (#07, #06, 1, 1, 0, '', 0), (#61, #06, 1, 1, 0, '', 0);
    INSERT INTO gone_registration VALUES (#01, decode(repeat('1#', 10), 'hex'), #, 9, 2, NULL, 1),
      (#02, decode(repeat('2#', 10), 'hex'), #, 9, 2, NULL, 9000);
    INSERT INTO getui_task VALUES (#08, #, 'r', '', 1, 1, NULL, NULL, '', NULL), (#09, #, 's', '', 1, 9000, NULL, NULL, '', NULL);
    INSERT INTO getui_revoked_token VALUES (#, 'a', 1), (#, 'b', 9000);
    INSERT INTO getui_push VALUES (#01, #, NULL, 'g'), (#62, #, NULL, 'g');
    INSERT INTO activity VALUES (1, 1, #, 2, ''), (1, 50, #, 2, ''), (2, 1, #, 2, ''), (2, 50, #, 2, '');
    INSERT INTO newcomers VALUES (1, #, 2, 1), (50, #, 2, 1);
    INSERT INTO statistics VALUES (1, #, 1, 1, 1, 1, 1, 1, 1, ''), (50, #, 1, 1, 1, 1, 1, 1, 1, '');
    INSERT INTO content_key VALUES (#, 0, 1, '', 1), (#, 0, 2, '', 9000);
    INSERT INTO file VALUES (#01, '#00000000000000000000000', 'f#1', 1, 'n', 1, 1, 1, 1, 1),
      (#02, '#00000000000000000000000', 'f#2', 1, 'n', 1, 1, 1, 9000, 1);
    INSERT INTO file_piece VALUES (#01, 0, ''), (#02, 0, '');
    INSERT INTO import_batch VALUES (#01, #, 0, 1);
    INSERT INTO callback_app VALUES (#);
    INSERT INTO callback_setting VALUES (#, NULL, 1, '', NULL, NULL, 1, 0);
    INSERT INTO callback_bulk VALUES (#01, #01, #, 1, 1, NULL, NULL, 0);
    INSERT INTO callback_batch VALUES (#01, #, '', NULL, 1, 1, 1, 1, 1, 1, 200, NULL, 1, ''),
      (#02, #, '', NULL, 1, 1, 9000, 0, 0, 1, 0, NULL, NULL, '');
    INSERT INTO callback_attempt VALUES (#01, 1, 1, 1, 200, NULL);
    INSERT INTO credential (id, app_id, channel, service, kind, subject, name, fingerprint, created_at, state, changed_at, replaced_by, sealed)
      VALUES (#01, #, 2, 1, 1, 't', 'k', decode(repeat('00', 32), 'hex'), 1, 1, 1, #02, ''),
        (#02, #, 2, 1, 1, 't', 'k', decode(repeat('00', 32), 'hex'), 1, 0, 1, NULL, ''),
        (#03, #, 3, 1, 1, 's', 'n', '', 1, 0, 1, NULL, '');
    """

  /// The tables that hold these rows, and the number in each from whose beginning it shows whose a row is.
  private static let tables: [(name: String, app: String)] =
    [
      "push", "outcome", "fallback", "held_push", "delivered", "dropped", "receipt", "channel_targets",
      "channel_taken",
      "push_callback",
      "push_sender", "pending", "channel_pending", "steady_push", "schedule_run",
    ].map { ($0, "msg_id / 100") }
    + ["cid", "schedule", "gone_registration", "getui_task", "file", "callback_batch", "credential"].map {
      ($0, "id / 100")
    }
    + [
      "getui_revoked_token", "getui_push", "activity", "newcomers", "statistics", "content_key",
      "callback_bulk",
    ].map { ($0, "app_id") }
    + [
      ("file_piece", "file / 100"), ("callback_attempt", "batch_id / 100"),
      ("group_push", "group_msgid / 100"),
      ("group_push_member", "group_msgid / 100"),
    ]

  /// All rows by app, as text.
  private func dump(_ cluster: PostgresCluster, _ name: String) throws -> [String: [String]] {
    let parts = Self.tables.map { "SELECT \($0.app), '\($0.name) ' || row::text FROM \($0.name) AS row" }
    let rows = try cluster.sql(parts.joined(separator: " UNION ALL ") + " ORDER BY 1, 2", in: name)
    return Dictionary(grouping: rows) { $0[0] }.mapValues { $0.map { $0[1] } }
  }

  /// Deletes what is old, as a server does.
  private static func sweep(_ rows: AppRows, in transaction: WriteTransaction) throws(StorageError) {
    let (old, id) = (Timestamp(milliseconds: 5000), MessageID(950))
    _ = try transaction.pushes.sweep(after: MessageID(0), below: id, limit: 100, in: rows)
    _ = try transaction.pushes.sweepCIDs(before: old, limit: 100, in: rows)
    _ = try transaction.schedules.sweep(runsBelow: id, overBefore: old, limit: 100, in: rows)
    _ = try transaction.appGroups.sweepPushes(below: id, limit: 100, in: rows)
    _ = try transaction.registrations.sweepGone(before: old, limit: 100, in: rows)
    try transaction.pacedPushes.sweep(endedBy: old, in: rows)
    try transaction.getui.sweep(endedBefore: old, pushesBelow: id, limit: 100, in: rows)
    _ = try transaction.activity.sweep(hours: 20, days: 20, statistics: 20, limit: 100, in: rows)
    _ = try transaction.deviceKeys.sweep(before: old, limit: 100, in: rows)
    while try transaction.files.sweep(endedBefore: old, begunBefore: old, limit: 100, in: rows) {}
    _ = try transaction.callbacks.sweep(before: old, limit: 100, in: rows)
    _ = try transaction.credentials.sweep(retiringSince: old, at: old, in: rows)
  }

  private func open(_ cluster: PostgresCluster, _ name: String) throws -> Store {
    try Store.open(.postgres(url: cluster.url(of: name)), readers: 1, log: .silent)
  }

  @Test func `Homes sweep their own, and together what one would`() async throws {
    let cluster = try PostgresCluster.shared()
    let (name, whole) = (try makeDatabase(cluster), try makeDatabase(cluster))
    let before = try dump(cluster, name)
    #expect(before.keys.sorted() == ["1", "2", "3", "9"] && before.allSatisfy { $0.value.count > 4 })
    let store = try open(cluster, name)
    defer { store.close() }
    let (one, other) = (HomeScope.assigned(Self.one).rows, HomeScope.assigned(Self.other).rows)
    try await store.change { t throws(StorageError) in try Self.sweep(other, in: t) }
    let between = try dump(cluster, name)
    for owner in ["1", "9"] { #expect(between[owner] == before[owner]) }
    for owner in ["2", "3"] { #expect(between[owner]?.count ?? 0 < before[owner]?.count ?? 0) }
    try await store.change { t throws(StorageError) in try Self.sweep(one, in: t) }
    let after = try dump(cluster, name)
    for owner in ["2", "3"] { #expect(after[owner] == between[owner]) }
    #expect(after["9"] == nil)

    let alone = try open(cluster, whole)
    defer { alone.close() }
    try await alone.change { t throws(StorageError) in try Self.sweep(.all, in: t) }
    // The outcome of a push that waits for a service goes with the push.
    #expect(try dump(cluster, whole) == after)
  }

  @Test func `A home moves what its own pushes wait for`() async throws {
    let cluster = try PostgresCluster.shared()
    let name = try makeDatabase(cluster)
    let store = try open(cluster, name)
    defer { store.close() }
    let other = HomeScope.assigned(Self.other).rows
    try await store.change { t throws(StorageError) in
      try t.fallbacks.shift(
        by: 9000, through: MessageID(999), acceptedAbout: Timestamp(milliseconds: 0), in: other)
    }
    let moments = "SELECT app_id, due_at FROM fallback WHERE is_done = 0 ORDER BY app_id"
    #expect(try cluster.sql(moments, in: name) == [["1", "1000"], ["2", "11000"], ["3", "12000"]])
    try await store.change { t throws(StorageError) in
      try t.fallbacks.clamp(from: Timestamp(milliseconds: 500), in: other)
    }
    #expect(try cluster.sql(moments, in: name) == [["1", "1000"], ["2", "5500"], ["3", "5500"]])
    try await store.change { t throws(StorageError) in
      try t.fallbacks.clamp(from: Timestamp(milliseconds: 6000), in: other)
    }
    #expect(try cluster.sql(moments, in: name) == [["1", "1000"], ["2", "6000"], ["3", "6000"]])
  }

  @Test func `Homes read their own`() async throws {
    let cluster = try PostgresCluster.shared()
    let store = try open(cluster, try makeDatabase(cluster))
    defer { store.close() }
    let scopes: [(AppRows, [UInt32])] = [
      (HomeScope.assigned(Self.one).rows, [1]), (HomeScope.assigned(Self.other).rows, [2, 3]),
      (.of(AppID(2)), [2]), (.all, [1, 2, 3]),
      (HomeScope.assigned(AssignedApps(home: 1, node: 1, slot: .first)).rows, []),
    ]
    for (rows, expected) in scopes {
      let found = try await store.look { transaction throws(StorageError) in
        try Self.owners(of: rows, in: transaction)
      }
      for (name, owners) in found { #expect(owners == expected, "\(name)") }
      #expect(found.count == 21)
    }
  }

  /// Whose rows are found, by query.
  private static func owners(
    of rows: AppRows, in transaction: ReadTransaction
  ) throws(StorageError) -> [String: [UInt32]] {
    let late = Timestamp(milliseconds: 5000)
    var (open, dropped, occurrences): ([AppID], [MessageID], [Int64]) = ([], [], [])
    try transaction.deliveries.open(in: rows) { open.append($0.push.app) }
    try transaction.deliveries.droppedOfOpen(in: rows) { id, _, _ in dropped.append(id) }
    try transaction.schedules.occurrences(in: rows) { id, _, _, _, _ in occurrences.append(id) }
    var imports: [AppID] = []
    var last: Int64 = 0
    while let next = try transaction.imports.next(after: last, in: rows) {
      (last, imports) = (next.id, imports + [next.app])
    }
    func apps(_ ids: [AppID]) -> [UInt32] { Set(ids.map(\.rawValue)).sorted() }
    func apps(_ ids: some Sequence<MessageID>) -> [UInt32] {
      Set(ids.map { UInt32($0.rawValue / 100) }).sorted()
    }
    let waiting = try transaction.callbacks.waiting(limit: 100, in: rows)
    let next = try transaction.fallbacks.nextDue(in: rows).map { AppID(UInt32($0.milliseconds / 1000)) }
    let nextHeld = try transaction.heldPushes.next(in: rows)
    #expect(nextHeld.allSatisfy { $0.value.milliseconds == Int64($0.key.rawValue) * 1000 })
    var held: [AppID] = []
    try transaction.heldPushes.all(in: rows) { held.append($0.app) }
    let recalled = try transaction.deliveries.recalled(
      since: late, of: MessageID(1), limit: 9, setBytes: 9, in: rows)
    let own = try transaction.apps.all(in: rows).map(\.id)
    return [
      "apps": apps(own), "open": apps(open), "dropped": apps(dropped),
      "waiting": waiting == own.count ? apps(own) : [99],
      "occurrences": apps(occurrences.map { MessageID(UInt64($0)) }), "imports": apps(imports),
      "fallbacks": apps(try transaction.fallbacks.openOfSeveral(in: rows).keys),
      "fallbacks due": apps(try transaction.fallbacks.due(at: late, limit: 9, in: rows).rows.map(\.app)),
      "next fallback": next == own.first ? apps(own) : [99],
      "held": apps(held), "next held": apps(Array(nextHeld.keys)),
      "recalled": apps(recalled.map(\.app)),
      "pushes": apps(try transaction.pushes.ids(after: MessageID(0), limit: 100, in: rows)),
      "paced": apps(try transaction.pacedPushes.all(in: rows).keys),
      "due": apps(try transaction.schedules.due(at: late, limit: 9, in: rows).rows.map(\.app)),
      "settings": apps(try transaction.callbacks.settings(in: rows).map(\.app)),
      "callback apps": apps(try transaction.callbacks.apps(in: rows)),
      "bulks": apps(try transaction.callbacks.bulks(restBefore: late, limit: 9, in: rows).map(\.app)),
      "senders": apps(
        try transaction.callbacks.senders(after: AppID(0), limit: 9, in: rows).map(\.app)),
      "credentials": apps(try transaction.credentials.all(in: rows).map(\.app)),
      "credentials of one channel": apps(
        try transaction.credentials.all(of: ChannelID(rawValue: 3), in: rows).map(\.app)),
    ]
  }
}
