import CPostgreSQL
import Glibc
import PushBase

/// Statements, and how their results come.
extension PostgresConnection {
  func prepare(_ sql: UnsafeBufferPointer<UInt8>) throws(StorageError) -> Statement {
    PostgresStatement(PostgresSQL.rewrite(sql), of: self)
  }

  func run(script: String, after: () throws(StorageError) -> Void) throws(StorageError) {
    try execute(script, within: nil)
    try after()
  }

  /// Runs statements in PostgreSQL's own words and drops their rows.
  func execute(_ sql: String) throws(StorageError) { try execute(sql, within: patience) }

  /// The same within so many milliseconds, nil for any number.
  func execute(_ sql: String, within patience: Int?) throws(StorageError) {
    PQclear(try request(within: patience) { PQsendQuery($0, sql) })
  }

  /// Runs a statement in PostgreSQL's own words; the first column of the first row, as text.
  func value(_ sql: String) throws(StorageError) -> String? {
    let result = try request { PQsendQuery($0, sql) }
    defer { PQclear(result) }
    guard PQntuples(result) > 0, PQgetisnull(result, 0, 0) == 0 else { return nil }
    return String(cString: PQgetvalue(result, 0, 0))
  }

  /// Prepares a statement for parameters of some types; returns the name that it gets.
  func prepare(_ sql: String, _ types: [UInt32]) throws(StorageError) -> String {
    let name = newName()
    PQclear(try request { PQsendPrepare($0, name, sql, Int32(types.count), types) })
    return name
  }

  /// A name that nothing else of this connection has.
  func newName() -> String {
    names += 1
    return "s\(names)"
  }

  /// Runs a prepared statement with binary values and results. The caller clears the result.
  func execute(_ name: String, _ values: [SQLValue]) throws(StorageError) -> OpaquePointer {
    var bytes: [UInt8] = [0]
    var places: [Int?] = []
    var lengths: [Int32] = []
    for value in values {
      let start = bytes.count
      switch value {
      case .null:
        places.append(nil)
        lengths.append(0)
        continue
      case .integer(let number): withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
      case .text(let text): bytes += try text.storable().utf8
      case .blob(let blob): bytes += blob
      }
      places.append(start)
      lengths.append(Int32(clamping: bytes.count - start))
    }
    let formats = [Int32](repeating: 1, count: values.count)
    let result = try request { handle in
      bytes.withUnsafeBytes { buffer in
        let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
        let pointers = places.map { place in place.flatMap { base?.advanced(by: $0) } }
        return PQsendQueryPrepared(handle, name, Int32(values.count), pointers, lengths, formats, 1)
      }
    }
    changes = Int(String(cString: PQcmdTuples(result))) ?? 0
    return result
  }

  /// The same within the usual time.
  private func request(_ send: (OpaquePointer) -> Int32) throws(StorageError) -> OpaquePointer {
    try request(within: patience, send)
  }

  /// Sends something and awaits what the server says to all of it: the last result, which the caller clears. Throws if any of it
  /// failed. The connection is given up if no answer comes.
  func request(
    within patience: Int?, _ send: (OpaquePointer) -> Int32
  ) throws(StorageError) -> OpaquePointer {
    guard let handle else { throw StorageError(.io, "not connected to the database") }
    guard send(handle) == 1 else { throw lost(handle) }
    var last: OpaquePointer?
    var failure: StorageError?
    while true {
      do throws(StorageError) { try waitForResult(handle, within: patience) } catch {
        if let last { PQclear(last) }
        drop()
        throw failure ?? error
      }
      guard let next = PQgetResult(handle) else { break }
      if let last { PQclear(last) }
      last = next
      if failure == nil { failure = Self.failure(of: next) }
    }
    if let failure {
      if let last { PQclear(last) }
      if !isConnected { drop() }
      throw failure
    }
    guard let last else { throw lost(handle) }
    return last
  }

  /// Sends the rest of what is to be sent, and waits until a result can be read without waiting.
  private func waitForResult(_ handle: OpaquePointer, within patience: Int?) throws(StorageError) {
    var left = patience
    var isEnding = false
    while true {
      let rest = PQflush(handle)
      // What failed is a result to be read.
      if rest == 0, PQisBusy(handle) == 0 { return }
      if rest < 0 {
        PQconsumeInput(handle)
        return
      }
      if !isEnding, options.isEnding() {
        isEnding = true
        left = min(left ?? .max, PostgresPatience.ending)
      }
      let step = min(left ?? 500, 500)
      var wait = pollfd(
        fd: PQsocket(handle), events: Int16(POLLIN) | (rest == 1 ? Int16(POLLOUT) : 0), revents: 0)
      let start = SystemTime().monotonic()
      let ready = poll(&wait, 1, Int32(max(0, step)))
      if ready > 0, Int32(wait.revents) & ~POLLOUT != 0 {
        // After an error it is no longer busy, and says so as a result.
        guard PQconsumeInput(handle) == 1 else { return }
        left = patience == nil || isEnding ? left : patience
      } else if let known = left {
        left = known - Int((SystemTime().monotonic() &- start) / 1_000_000)
        if known <= 0 { throw StorageError(.io, "the database does not answer") }
      }
    }
  }

  private func lost(_ handle: OpaquePointer) -> StorageError {
    let message = Self.line(PQerrorMessage(handle))
    if !isConnected { drop() }
    return StorageError(.io, message.isEmpty ? "the connection to the database is lost" : message)
  }

  /// The error that a result is, nil for a good one.
  private static func failure(of result: OpaquePointer) -> StorageError? {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return nil
    default:
      let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
      let message = line(PQresultErrorField(result, Int32(UInt8(ascii: "M"))) ?? PQresultErrorMessage(result))
      return StorageError(state: state ?? "08006", message: message)
    }
  }

  /// Ends what else writes behind the fence of an incarnation.
  func endBackends(of incarnation: Int64) throws(StorageError) {
    try execute(
      """
      SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity
      WHERE application_name = 'borealis/\(incarnation)' AND pid <> pg_backend_pid()
        AND datname = current_database()
      """)
  }

  /// A message of libpq in one line.
  static func line(_ text: UnsafePointer<CChar>?) -> String {
    let lines = (text.map { String(cString: $0) } ?? "").split { $0.isNewline }
    return lines.map { $0.drop { $0.isWhitespace } }.joined(separator: "; ")
  }
}

extension StorageError {
  /// Makes an error of one of PostgreSQL's states (https://www.postgresql.org/docs/15/errcodes-appendix.html).
  init(state: String, message: String) {
    let kind: Kind =
      switch state.prefix(2) {
      case "23", "22": .constraint
      case "08": .io
      case "40", "55": .busy
      default:
        switch state {
        case "53100": .diskFull
        case "57014": .busy
        case "25006", "42501": .readOnly
        case "XX001", "XX002": .corrupt
        case "25P03", "53200", "53300", "57P01", "57P02", "57P03", "57P05", "58030": .io
        default: .other
        }
      }
    self.init(kind, "\(message) (\(state))")
  }
}
