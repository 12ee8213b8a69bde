/// What a session of PostgreSQL is set to, whatever the defaults of the server, the database and the role
/// are: what is stored, and what is known of it, depends on these.
struct PostgresSettings {
  private var values: [(name: String, value: String)] = [
    // That a commit did not wait for its standby comes as a warning.
    ("client_min_messages", "warning"), ("client_encoding", "'UTF8'"),
    ("default_transaction_isolation", "'read committed'"), ("default_transaction_deferrable", "off"),
    ("default_transaction_read_only", "off"), ("standard_conforming_strings", "on"),
    ("transform_null_equals", "off"), ("array_nulls", "on"), ("bytea_output", "hex"),
    ("datestyle", "'ISO, YMD'"), ("intervalstyle", "postgres"), ("timezone", "'UTC'"),
    ("row_security", "off"), ("idle_session_timeout", "0"), ("jit", "off"),
  ]

  init(for role: PostgresRole, isLimited: Bool, version: Int32) {
    if version >= 170_000 { values.append(("transaction_timeout", "0")) }
    switch role {
    case .reader:
      limit(statement: isLimited ? "60s" : "0", lock: "0", idle: "0")
    case .node:
      limit(statement: "2s", lock: "1s", idle: "5s")
      // That a node is alive does not depend on standbys.
      values.append(("synchronous_commit", "local"))
    case .writer, .server, .home:
      // Who stands still inside a transaction, or is gone, must not hold up others. But what is to be written
      // is never cancelled.
      limit(statement: "0", lock: "10s", idle: "5s")
      values += [
        ("tcp_keepalives_idle", "5"), ("tcp_keepalives_interval", "2"), ("tcp_keepalives_count", "3"),
        ("tcp_user_timeout", "'10s'"),
      ]
    }
  }

  private mutating func limit(statement: String, lock: String, idle: String) {
    values += [
      ("statement_timeout", "'\(statement)'"), ("lock_timeout", "'\(lock)'"),
      ("idle_in_transaction_session_timeout", "'\(idle)'"),
    ]
  }

  /// Statements that set them. Tables are looked for in the first schema that the role is told of and that is
  /// there, functions among PostgreSQL's own before that.
  var sql: String {
    let settings = values.map { "SET \($0.name) = \($0.value);" }.joined(separator: " ")
    return """
      \(settings)
      SELECT pg_catalog.set_config('search_path', pg_catalog.quote_ident(coalesce(
        (SELECT name FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) AS name WHERE name !~ '^pg_' LIMIT 1),
        'public')) || ', pg_temp', false)
      """
  }

  /// Statements that make a session wait for the disk with each commit, and for the standbys that the server
  /// names. `commits` is what it does of itself.
  static func safeCommits(_ commits: String?) -> String? {
    commits == "off" || commits == "local" ? "SET synchronous_commit = on" : nil
  }
}
