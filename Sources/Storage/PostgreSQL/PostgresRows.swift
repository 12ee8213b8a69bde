import BorealisBase
import CPostgreSQL

/// Rows in great numbers, by COPY in its binary form (https://www.postgresql.org/docs/15/sql-copy.html).
struct PostgresRows {
  private let handle: OpaquePointer

  /// Nil if the connection is lost.
  init?(_ connection: PostgresConnection) {
    guard let handle = connection.handle else { return nil }
    self.handle = handle
  }

  /// Puts rows into a table, inside of a transaction. `rows` hands out one after the other, each with a value
  /// for each of the columns: `bigint`, `text` and `bytea`, whose bytes are sent as they are.
  func copy(
    into table: String, _ columns: [String],
    rows: (_ add: ([CopiedValue]) throws(StorageError) -> Void) throws(StorageError) -> Void
  ) throws(StorageError) {
    // Blocks when the server does not read as fast as rows come: nothing piles up in memory.
    PQsetnonblocking(handle, 0)
    defer { PQsetnonblocking(handle, 1) }
    let names = columns.map { "\"\($0)\"" }.joined(separator: ", ")
    let begun = PQexec(handle, "COPY \"\(table)\" (\(names)) FROM STDIN (FORMAT binary)")
    defer { PQclear(begun) }
    guard PQresultStatus(begun) == PGRES_COPY_IN else { throw problem(begun) }
    do throws(StorageError) {
      try send(Array("PGCOPY\n".utf8) + [0xff, 13, 10, 0] + [UInt8](repeating: 0, count: 8))
      try rows { row throws(StorageError) in
        var bytes: [UInt8] = []
        Self.write(Int16(row.count), &bytes)
        for value in row {
          switch value {
          case .null: Self.write(Int32(-1), &bytes)
          case .integer(let number):
            Self.write(Int32(8), &bytes)
            Self.write(number, &bytes)
          case .bytes(let content):
            Self.write(Int32(clamping: content.count), &bytes)
            bytes += content
          }
        }
        try send(bytes)
      }
      try send([0xff, 0xff])
    } catch {
      PQputCopyEnd(handle, "given up")
      while let result = PQgetResult(handle) { PQclear(result) }
      throw error
    }
    PQputCopyEnd(handle, nil)
    var failure: StorageError?
    while let result = PQgetResult(handle) {
      if PQresultStatus(result) != PGRES_COMMAND_OK { failure = failure ?? problem(result) }
      PQclear(result)
    }
    if let failure { throw failure }
  }

  private func send(_ bytes: [UInt8]) throws(StorageError) {
    let status = bytes.withUnsafeBytes { buffer in
      PQputCopyData(
        handle, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(clamping: buffer.count))
    }
    guard status == 1 else { throw StorageError(.io, PostgresConnection.line(PQerrorMessage(handle))) }
  }

  private func problem(_ result: OpaquePointer?) -> StorageError {
    let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
    return StorageError(state: state ?? "08006", message: PostgresConnection.line(PQerrorMessage(handle)))
  }

  private static func write(_ number: some FixedWidthInteger, _ bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
  }
}
