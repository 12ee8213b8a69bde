import BorealisBase
import Model

/// The log of requests to the HTTP APIs.
package struct APIRequestRepository<Access>: Repository {
  let database: Database
}

extension APIRequestRepository {
  /// The newest rows of an app before a place that a filter lets through, at most `limit`. However rare they
  /// are, no more rows are read than an app may have.
  package func list(
    app: AppID, _ filter: APIRequestFilter, before place: APIRequestPlace, limit: Int
  ) throws(StorageError) -> APIRequestList {
    var found: [ArraySlice<(seq: Int64, row: APIRequestRow)>] = []
    for kind in APIRequestKind.allCases where filter.kinds.contains(kind) {
      // One more, to see whether there are older ones.
      found.append(try rows(kind, of: app, filter, below: place[kind], limit: limit + 1)[...])
    }
    var (rows, next) = ([APIRequestRow](), place)
    while rows.count < limit,
      let newest = found.indices.max(by: { Self.time(found[$0]) < Self.time(found[$1]) }),
      let (seq, row) = found[newest].popFirst()
    {
      rows.append(row)
      next[row.call.kind] = seq
    }
    return APIRequestList(rows: rows, next: found.allSatisfy(\.isEmpty) ? nil : next)
  }

  private static func time(_ rows: ArraySlice<(seq: Int64, row: APIRequestRow)>) -> Int64 {
    rows.first?.row.firstAt.milliseconds ?? .min
  }

  private func rows(
    _ kind: APIRequestKind, of app: AppID, _ filter: APIRequestFilter, below seq: Int64, limit: Int
  ) throws(StorageError) -> [(seq: Int64, row: APIRequestRow)] {
    // No address has a character as large as the last one.
    let (code, key, lastAddress) = (filter.code.map { Int64($0) }, filter.key, filter.address + "~")
    let (codes, keys) = ((code ?? 0)...(code ?? .max), (key ?? 0)...(key ?? .max))
    return try database.all(
      """
      SELECT * FROM api_request WHERE app_id = ? AND kind = ? AND seq < ? AND status BETWEEN ? AND ?
        AND code BETWEEN ? AND ? AND key_id BETWEEN ? AND ? AND address BETWEEN ? AND ?
      ORDER BY seq DESC LIMIT ?
      """, .app(app), .integer(kind.rawValue), .integer(seq), .integer(filter.statuses.lowerBound),
      .integer(filter.statuses.upperBound), .integer(codes.lowerBound), .integer(codes.upperBound),
      .integer(keys.lowerBound), .integer(keys.upperBound), .text(filter.address), .text(lastAddress),
      .integer(limit)
    ) { ($0.integer("seq"), Self.row($0, kind)) }
  }

  private static func row(_ row: Row, _ kind: APIRequestKind) -> APIRequestRow {
    let key = row.integer("key_id")
    return APIRequestRow(
      APICall(
        kind: kind, method: row.text("method"), route: row.text("route"), status: row.count("status"),
        code: row.count("code"), message: row.text("message"), address: IPAddress(row.text("address")),
        key: key == 0 ? nil : key),
      firstAt: row.time("first_at"), lastAt: row.time("last_at"), count: row.count("count"))
  }
}

extension APIRequestRepository<Writing> {
  /// Adds rows of an app, the oldest first, and deletes as many of its oldest ones as are more than `most` of
  /// a kind, or too old.
  package func add(
    _ rows: [APIRequestRow], to app: AppID, most: (APIRequestKind) -> Int, before moment: Timestamp
  ) throws(StorageError) {
    for (kind, rows) in Dictionary(grouping: rows, by: \.call.kind) {
      var last = try last(kind, of: app)
      for row in rows {
        last += 1
        try insert(row, app, last)
      }
      try sweep(kind, of: app, upTo: last - Int64(most(kind)), before: moment, limit: rows.count + 64)
    }
  }

  /// Deletes an app's oldest rows of all kinds that are too old, out of the `limit` first ones.
  package func sweep(app: AppID, before moment: Timestamp, limit: Int) throws(StorageError) {
    for kind in APIRequestKind.allCases {
      try sweep(kind, of: app, upTo: 0, before: moment, limit: limit)
    }
  }

  private func last(_ kind: APIRequestKind, of app: AppID) throws(StorageError) -> Int64 {
    try database.first(
      "SELECT seq FROM api_request WHERE app_id = ? AND kind = ? ORDER BY seq DESC LIMIT 1", .app(app),
      .integer(kind.rawValue)
    ) { $0.integer() } ?? 0
  }

  private func insert(_ row: APIRequestRow, _ app: AppID, _ seq: Int64) throws(StorageError) {
    let (call, key) = (row.call, row.call.key ?? 0)
    try database.runLater(
      """
      INSERT INTO api_request (app_id, kind, seq, first_at, last_at, count, method, route, status, code, message,
        address, key_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .app(app), .integer(call.kind.rawValue), .integer(seq), .time(row.firstAt), .time(row.lastAt),
      .integer(row.count), .text(call.method), .text(call.route), .integer(call.status), .integer(call.code),
      .text(call.message), .text(call.address?.text ?? ""), .integer(key))
  }

  private func sweep(
    _ kind: APIRequestKind, of app: AppID, upTo seq: Int64, before moment: Timestamp, limit: Int
  ) throws(StorageError) {
    try database.run(
      """
      DELETE FROM api_request WHERE app_id = ?1 AND kind = ?2 AND (seq <= ?3 OR last_at < ?4) AND seq IN (
        SELECT seq FROM api_request WHERE app_id = ?1 AND kind = ?2 ORDER BY seq LIMIT ?5)
      """, .app(app), .integer(kind.rawValue), .integer(seq), .time(moment), .integer(limit))
  }
}
