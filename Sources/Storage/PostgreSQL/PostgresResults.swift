import BorealisBase
import CPostgreSQL
import Glibc

/// What libpq has of the server's answers.
enum PostgresResults {
  /// Sends the rest of what is to be sent, and waits until a result can be read without waiting.
  static func wait(
    on handle: OpaquePointer, within patience: Int?, isEnding: () -> Bool
  ) throws(StorageError) {
    var left = patience
    var mustEnd = false
    while true {
      let rest = PQflush(handle)
      // What failed is a result to be read.
      if rest == 0, PQisBusy(handle) == 0 { return }
      if rest < 0 {
        PQconsumeInput(handle)
        return
      }
      if !mustEnd, isEnding() {
        mustEnd = true
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
        left = patience == nil || mustEnd ? left : patience
      } else if let known = left {
        left = known - Int((SystemTime().monotonic() &- start) / 1_000_000)
        if known <= 0 { throw StorageError(.io, "the database does not answer") }
      }
    }
  }

  /// Rows that a statement has changed.
  static func changes(of result: OpaquePointer) -> Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

  /// The error that a result is, nil for a good one.
  static func failure(in result: OpaquePointer) -> StorageError? {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return nil
    default:
      let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
      let message = PostgresConnection.line(
        PQresultErrorField(result, Int32(UInt8(ascii: "M"))) ?? PQresultErrorMessage(result))
      return StorageError(state: state ?? "08006", message: message)
    }
  }
}

/// A result that is cleared with its last owner.
final class FetchedResult: @unchecked Sendable {
  private(set) var result: OpaquePointer?

  init(_ result: OpaquePointer) { self.result = result }

  /// Whether it is that of a COMMIT that was one.
  var isCommit: Bool { result.map { strcmp(PQcmdStatus($0), "COMMIT") == 0 } ?? false }

  var rowCount: Int32 { result.map { PQntuples($0) } ?? 0 }

  /// A number of 64 bits in the last column of a row.
  func lastInteger(_ row: Int32) -> Int64 {
    guard let result else { return 0 }
    let column = PQnfields(result) - 1
    guard PQgetlength(result, row, column) == 8, let start = PQgetvalue(result, row, column) else { return 0 }
    return Int64(bigEndian: UnsafeRawPointer(start).loadUnaligned(as: Int64.self))
  }

  deinit { if let result { PQclear(result) } }

  /// Gives up the result; the caller clears it.
  func release() -> OpaquePointer? {
    defer { result = nil }
    return result
  }
}

/// A prepared statement with values as they are sent: binary.
struct PreparedStatement {
  private let name: String
  private var bytes: [UInt8] = [0]
  /// Where the values begin, nil for NULL.
  private var places: [Int?] = []
  private var lengths: [Int32] = []

  init(_ name: String, _ values: [SQLValue]) throws(StorageError) {
    self.name = name
    for value in values {
      let start = bytes.count
      switch value {
      case .null:
        places.append(nil)
        lengths.append(0)
        continue
      case .integer(let number): append(number)
      case .text(let text): bytes += try text.storable().utf8
      case .blob(let blob): bytes += blob
      }
      places.append(start)
      lengths.append(Int32(clamping: bytes.count - start))
    }
  }

  /// Arrays of values, those of each parameter in one of its type; a parameter without a type is left out.
  init(_ name: String, _ rows: [[SQLValue]], _ types: [UInt32]) {
    self.name = name
    for (parameter, type) in types.enumerated() where type != 0 {
      let start = bytes.count
      // The number of dimensions, whether there is NULL, the type, the number of elements, and that of the
      // first.
      let header = [1, 1, type, UInt32(clamping: rows.count), 1]
      for number in header { append(number) }
      for row in rows {
        switch row[parameter] {
        case .null: append(UInt32.max)
        case .integer(let number):
          append(UInt32(8))
          append(number)
        case .text(let text):
          append(UInt32(clamping: text.utf8.count))
          bytes += text.utf8
        case .blob(let blob):
          append(UInt32(clamping: blob.count))
          bytes += blob
        }
      }
      places.append(start)
      lengths.append(Int32(clamping: bytes.count - start))
    }
  }

  private mutating func append(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
  }

  /// Gives it to libpq, which copies it; 1 for success.
  func send(on handle: OpaquePointer) -> Int32 {
    let formats = [Int32](repeating: 1, count: places.count)
    return bytes.withUnsafeBytes { buffer in
      let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
      let pointers = places.map { place in place.flatMap { base?.advanced(by: $0) } }
      return PQsendQueryPrepared(handle, name, Int32(places.count), pointers, lengths, formats, 1)
    }
  }
}

extension StorageError {
  /// Makes an error of one of PostgreSQL's states
  /// (https://www.postgresql.org/docs/15/errcodes-appendix.html).
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
