import BorealisBase
import PushTesting

@testable import Storage

/// Statistics as if one app had a million of everything.
enum PretendedRows {
  /// Columns that tell few rows from others.
  static let coarse: Set<String> = [
    "app_id", "account_id", "channel", "kind", "state", "unit", "platform", "outcome", "origin", "group_name",
  ]

  private static let count = 1_000_000

  static func add(to database: Database) throws {
    // Without rows it makes the table of statistics, and nothing else.
    try database.run(script: "ANALYZE")
    let indexes = try database.all(
      """
      SELECT tables.name AS owner, list.name AS name, list."unique" AS is_unique, list.origin = 'pk' AND tables.wr AS is_table,
        (SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(list.name) ORDER BY seqno)) AS columns
      FROM pragma_table_list AS tables JOIN pragma_index_list(tables.name) AS list
      WHERE tables.type = 'table' AND tables.schema = 'main' AND tables.name NOT LIKE 'sqlite_%'
      """
    ) {
      (
        table: $0.text("owner"), name: $0.bool("is_table") ? $0.text("owner") : $0.text("name"),
        isUnique: $0.bool("is_unique"), columns: $0.text("columns").split(separator: ",").map(String.init)
      )
    }
    for index in indexes {
      let rows = PlanRules.small[index.table] == nil ? count : 50
      var each = rows
      var numbers = [rows]
      for (place, column) in index.columns.enumerated() {
        if index.isUnique, place == index.columns.count - 1 {
          each = 1
        } else if !coarse.contains(column) {
          each = min(each, 10)
        }
        numbers.append(each)
      }
      let stat = numbers.map(String.init).joined(separator: " ")
      try database.prepare("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)").run([
        .text(index.table), .text(index.name), .text(stat),
      ])
    }
    try database.run(script: "ANALYZE sqlite_schema")
  }

  /// The same for a database of PostgreSQL, where a few rows stand for all; or these rows alone, of which it
  /// knows nothing.
  static func add(to cluster: PostgresCluster, _ name: String, isAnalyzed: Bool) throws {
    let columns = try cluster.sql(
      """
      SELECT c.relname, a.attname, format_type(a.atttypid, NULL)
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace ORDER BY c.relname, a.attnum
      """, in: name)
    // The rows are of no sense.
    var script = """
      DO $$ DECLARE one record; BEGIN
        FOR one IN SELECT conrelid::regclass AS owner, conname FROM pg_constraint
          WHERE contype IN ('c', 'f') AND connamespace = 'public'::regnamespace
        LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', one.owner, one.conname); END LOOP;
      END $$;
      """
    for (table, columns) in Dictionary(grouping: columns, by: { $0[0] }) where PlanRules.small[table] == nil {
      let values = columns.map { column in
        switch (column[1], column[2]) {
        case ("app_id", _), ("account_id", _): "1"
        case (let name, "bigint") where coarse.contains(name) || name.hasPrefix("is_"): "n % 3"
        case (_, "bigint"): "n"
        case (_, "bytea"): "decode(lpad(to_hex(n), 20, '0'), 'hex')"
        default: "'name' || n"
        }
      }
      script +=
        "INSERT INTO \(table) SELECT \(values.joined(separator: ", ")) FROM generate_series(1, 10000) AS n;"
    }
    try cluster.sql(script, in: name)
    guard isAnalyzed else { return }
    try cluster.sql("ANALYZE", in: name)
    // Nobody counts them again: it is what a plan is made for.
    try cluster.sql("UPDATE pg_class SET reltuples = 1000000 WHERE reltuples = 10000", in: name)
  }
}
