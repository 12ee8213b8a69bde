import BorealisBase

@testable import Storage

/// What plans may be like.
enum PlanRules {
  /// Tables that stay small, and may be read as a whole.
  static let small: [String: String] = [
    "account": "companies", "plan": "made by an operator", "person": "people of companies",
    "membership": "people of companies", "console_session": "browsers of people",
    "password_reset": "a few for each person", "recovery_code": "ten for each person",
    "app": "apps", "app_group": "made by people", "app_group_member": "an app each",
    "app_figures": "one for each app", "broadcast_count": "one for each app",
    "counted_push": "one for each app", "callback_setting": "one for each app",
    "callback_app": "one for each app", "getui_access": "one for each app", "home": "one for each app",
    "api_key": "made by people, up to a limit",
    "credential": "a few for each app", "credential_notice": "a few for each credential",
    "push_plan": "made by people, up to a limit", "segment": "made by people, up to a limit",
    "template": "made by people, up to a limit", "abtest": "made by people, up to a limit",
    "test_device": "made by people, up to a limit", "steady_push": "up to a limit for each app",
    "content_sealing_key": "made by an operator", "browser_key": "one", "node": "servers",
    "fence": "connections of servers", "commit_mark": "connections of servers",
    "dead_node": "servers, up to a limit", "token_proof": "one for each service of an app's channels",
    "schema_migration": "one for each version",
    "import_batch": "one for thousands of registrations",
    "callback_bulk": "what is being told of many registrations",
    "erasure": "one for each erased person, for a month",
  ]

  /// Files with statements of commands that look at everything.
  static let offline = ["Store+Check.swift": "the command \"check\""]

  /// Statements that may read more, by some of their words, and why.
  static let allowed: [(words: String, reason: String)] = [
    ("INSERT INTO account (", "foreign keys, if one is broken"),
    ("INSERT INTO app (", "foreign keys, if one is broken"),
    ("INSERT INTO person (", "foreign keys, if one is broken"),
    // At the start, or when an app comes to a home.
    ("FROM registration WHERE app_id = ? ORDER BY number", "loading an app; exports"),
    ("SELECT count(*) FROM registration WHERE app_id = ?", "loading an app"),
    ("SELECT fact, count(*)", "an import's commit; at most 10,000 values of each fact"),
    ("FROM channel_token WHERE app_id = ? AND token IS NOT NULL ORDER BY number", "loading an app"),
    ("SELECT number, name FROM tag WHERE app_id = ? ORDER BY number", "loading an app"),
    ("SELECT number, fact, value FROM fact_value WHERE app_id = ? ORDER BY number", "loading an app"),
    ("SELECT count(*) FROM tag WHERE app_id = ?", "an import, once for a thousand new names"),
    ("FROM pending CROSS JOIN push USING (msg_id)", "loading what is pending"),
    ("FROM pending JOIN push ON push.msg_id = pending.msg_id", "loading what is pending"),
    ("FROM dropped WHERE msg_id IN (SELECT msg_id FROM pending", "loading what is pending"),
    (
      "FROM fallback WHERE is_done = 0 AND 1 = 1 AND EXISTS",
      "loading what is pending"
    ),
    ("FROM held_push WHERE 1 = 1", "loading what is pending"),
    ("SELECT until FROM held_push WHERE app_id = ? ORDER BY until LIMIT 1", "the first entry of an index"),
    ("FROM outcome INDEXED BY outcome_taken_back", "recalls of ten minutes, at the start of a home"),
    (
      "SELECT msg_id, created_at, target_count FROM push INDEXED BY push_app",
      "what is not counted, at the start"
    ),
    (
      "SELECT traits, target, targets, unreached FROM push",
      "the pushes of the day, loading an app with limits"
    ),
    ("SELECT id, cid, is_send, next_local, next_at, last_local, last_at FROM schedule", "at the start"),
    ("SELECT test_id FROM abtest_run WHERE app_id = ?", "a page; a test has one run at a time"),
    ("SELECT coalesce(max(id), 0) FROM (", "the last one of each table, at the start"),
    ("UPDATE invitation SET mail_state = ?1", "at the start"),
    ("SELECT token FROM getui_revoked_token WHERE app_id", "when an app's tokens are first asked for"),
    // When the clock was set.
    ("UPDATE fallback SET due_at = due_at + ?1", "the clock was set"),
    ("UPDATE fallback SET due_at = ?1 WHERE", "the clock was set"),
    ("UPDATE fallback SET due_at = ?1 + seconds * 1000", "the clock was set"),
    ("UPDATE canary SET look_at = look_at + ?1", "the clock was set"),
    // The first ones of an index.
    ("SELECT due_at FROM fallback WHERE is_done = 0", "the first one"),
    ("SELECT min(", "the next one"),
    ("SELECT number FROM tag WHERE app_id = ?1 ORDER BY number DESC LIMIT 1", "the last one"),
    ("AS done, (SELECT created_at FROM callback_batch", "the first one of each app"),
    ("AS batch ON batch.app_id = app.id", "the first one of each app"),
    (
      "AND EXISTS (SELECT 1 FROM callback_batch WHERE state = 0 AND app_id = app.id)",
      "the first one of each app"
    ),
    (
      "SELECT created_at FROM callback_batch WHERE app_id = ? AND state = 0 ORDER BY id LIMIT 1",
      "the first one"
    ),
    ("SELECT created_at >= ?4 FROM callback_batch", "the first one behind a few"),
    ("ORDER BY next_at DESC LIMIT 200", "a few"),
    ("IN (SELECT id FROM callback_batch INDEXED BY callback_batch_list", "a few"),
    ("LIMIT ?) AS waiting", "counted up to a limit"),
    ("SELECT msg_id, target FROM push INDEXED BY push_app", "a few, LIMIT"),
    ("ORDER BY expires_at, id LIMIT 1", "a sweep: the first one"),
    ("ORDER BY created_at, id LIMIT 1", "a sweep: the first one"),
    // Sweeps in steps.
    ("ORDER BY app_id, state, id LIMIT ?3) AS oldest", "a sweep, LIMIT"),
    ("SELECT id FROM audit ORDER BY id LIMIT ?2", "a sweep, LIMIT"),
    ("FROM cid ORDER BY id LIMIT ?2) AS oldest", "a sweep, LIMIT"),
    ("FROM gone_registration ORDER BY id LIMIT ?2) AS oldest", "a sweep, LIMIT"),
    ("FROM getui_revoked_token WHERE expires_at < ?", "a sweep, LIMIT"),
    (
      "SELECT seq FROM api_request WHERE app_id = ?1 AND kind = ?2 ORDER BY seq LIMIT ?5", "a sweep, LIMIT"
    ),
    ("SELECT seq FROM api_request WHERE app_id = ? AND kind = ? ORDER BY seq DESC LIMIT 1", "the last one"),
    ("WHERE app_id = ?1 LIMIT ?2)", "a step of deleting an app, LIMIT"),
    ("WHERE app_id = ?1 ORDER BY state, id LIMIT ?2)", "a step of deleting an app, LIMIT"),
    ("DELETE FROM channel_pending WHERE app_id = ? AND msg_id = ?", "a command, for contents without a key"),
    // Little for each app or account, by limits.
    ("FROM incident INDEXED BY incident_unsettled", "what is wrong now, or was a few minutes ago"),
    (
      "FROM schedule WHERE app_id = ? AND next_local IS NOT NULL",
      "an app's schedules, of which there is a limit"
    ),
    ("FROM schedule WHERE approval = 1 AND app_id = ?", "what waits in an app, of which there is a limit"),
    ("FROM schedule WHERE approval = 1 AND next_at <= ?", "what has waited for too long, LIMIT"),
    ("FROM mail WHERE state = 0 AND next_at <= ?1", "mail that is due, LIMIT"),
    ("FROM mail INDEXED BY mail_due WHERE state = 0", "mail that waits"),
    ("FROM live_invitation WHERE EXISTS", "an account's invitations"),
    ("DELETE FROM invitation WHERE account_id = ?", "an account's invitations"),
  ]

  /// The same in a database of PostgreSQL that knows nothing of its rows. It counts them after a minute.
  static let allowedForAMinute: [(words: String, reason: String)] = [
    ("(SELECT msg_id FROM push WHERE msg_id > ?1 AND msg_id <= ?2", "a sweep"),
    ("WITH RECURSIVE span (hour)", "counts by hour"),
  ]

  /// Files with statements that are put together when they run, and why no plan is looked at.
  static let composed: [String: String] = [
    "DatabaseCopy.swift": "copies whole tables", "TableShape.swift": "copies whole tables",
    "PostgresRowForm.swift": "many rows by their keys", "PostgresFence.swift": "connections of servers",
    "PostgresConnection.swift": "locks", "PostgresConnection+Requests.swift": "sessions",
    "PostgresMigrator.swift": "the schema", "PostgresSettings.swift": "settings of a session",
  ]

  /// Whether a statement is for PostgreSQL alone.
  static func isOfPostgres(_ sql: String) -> Bool {
    sql.contains(/\b(?:fence|commit_mark|pg_\w+|to_regclass|to_jsonb|information_schema)\b/)
      || sql.contains(/\b(?:LATERAL|SKIP LOCKED|hashtextextended|clock_timestamp|string_agg)\b/)
  }

  /// Whether a statement is for SQLite alone.
  static func isOfSQLite(_ sql: String) -> Bool { sql.contains(/\b(?:sqlite_|pragma_)/) }

  /// What is wrong with a plan of PostgreSQL.
  static func postgresFaults(in plan: [String], of sql: String, _ tables: Set<String>) -> [String] {
    let isLimited = sql.contains(/\bLIMIT\b/) && !plan.contains { $0.contains(/\bSort\b/) }
    return plan.indices.compactMap { index -> String? in
      let node =
        /(Seq Scan|Index Scan|Index Only Scan|Bitmap Heap Scan)(?: Backward)?(?: using \w+)? on (\w+)/
      guard let found = plan[index].firstMatch(of: node), tables.contains(String(found.2)),
        small[String(found.2)] == nil
      else {
        return nil
      }
      let details = plan[(index + 1)...].prefix { !$0.contains("->") }
      let term = details.lazy.compactMap { $0.firstMatch(of: /(?:Index|Recheck) Cond: (.*)/)?.1 }.first ?? ""
      let equal = term.matches(of: #/(\w+) = /#).map { String($0.1) }
      let isFound = equal.contains { !PretendedRows.coarse.contains($0) }
      let isRange = term.contains(#/ <=? /#) && term.contains(#/ >=? /#)
      let isFirst = isLimited && term.contains(#/ [<>]=? /#)
      return found.1 != "Seq Scan" && (isFound || isRange || isFirst) ? nil : "\(plan[index]) \(term)"
    }
  }

  /// What is wrong with a plan of SQLite.
  static func sqliteFaults(in plan: [String], of sql: String, _ tables: Set<String>) -> [String] {
    var names = Dictionary(uniqueKeysWithValues: tables.map { ($0, $0) })
    for match in sql.matches(of: /(\w+) AS (\w+)/) where tables.contains(String(match.1)) {
      names[String(match.2)] = String(match.1)
    }
    let isLimited = sql.contains(/\bLIMIT\b/) && !plan.contains { $0.contains("TEMP B-TREE") }
    return plan.filter { line in
      let words = line.split(separator: " ")
      guard words.count > 1, words[0] == "SCAN" || words[0] == "SEARCH", let table = names[String(words[1])],
        small[table] == nil
      else { return false }
      if words[0] == "SCAN" || line.contains("AUTOMATIC") { return true }
      guard let terms = line.firstMatch(of: /\((.*)\)/)?.1 else { return false }
      let parts = terms.split(separator: " AND ")
      let equal = parts.filter { $0.hasSuffix("=?") && !$0.hasSuffix(">=?") }.map { String($0.dropLast(2)) }
      let isFound = equal.contains { !PretendedRows.coarse.contains($0) }
      let isRange = parts.contains { $0.hasSuffix(">?") } && parts.contains { $0.hasSuffix("<?") }
      return !isFound && !isRange && !(isLimited && parts.count > equal.count)
    }
  }
}
