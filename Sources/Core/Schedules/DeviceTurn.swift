import BorealisBase
import Model
import Storage

/// Whose turn it is at a moment of an occurrence that goes around the earth.
struct DeviceTurn: Sendable {
  /// Those who get the push now.
  let due: NumberSet
  /// Everybody whose turn has come by now, whether there was a push for them or not.
  let passed: NumberSet
}

extension AppDirectory {
  /// Whose turn it is. Each device has one turn in an occurrence: a zone that it reports anew neither gives
  /// it a second one, nor takes away one that it has not had. What registers later than the clocks in its
  /// zone showed the time has had its turn.
  func turn(
    at occurrence: ScheduleRow.Occurrence, after row: ScheduleTurnRow?, by clocks: ScheduleClocks
  ) -> DeviceTurn {
    let (facts, registered, everybody, end) = state.withLock { state in
      (
        state.table.facts, state.table.registered, state.table.members(platforms: .all),
        state.table.records.count
      )
    }
    let column = facts.columns[.timeZone]
    // For each value of the fact when the clocks show the time.
    let places = (column?.values ?? [(nil, "", 0)]).map { value in
      clocks.zone(value.number == nil ? nil : value.text).moment(of: occurrence.local)
    }
    let passed = row.flatMap { NumberSet(serialized: $0.passed) } ?? NumberSet()
    var come = FactTable.numbers(in: column, below: end) { places[$0] <= occurrence.at }
    come.formIntersection(everybody)
    come.subtract(passed)
    var due = come
    for number in come.members() {
      let moment = places[Int(column?.place(of: number) ?? 0)]
      let isSkipped = row?.skippedUntil.map { moment <= $0 } ?? false
      let isNew =
        Int(number.rawValue) < registered.count && Int64(registered[number.rawValue]) > moment.seconds
      if isSkipped || isNew { due.remove(number) }
    }
    return DeviceTurn(due: due, passed: passed.union(come))
  }
}

extension FactTable {
  /// The registrations below a number whose place in a column is wanted, of whom some may be gone.
  fileprivate static func numbers(in column: Column?, below end: Int, _ isWanted: (Int) -> Bool) -> NumberSet
  {
    let count = ChunkedArray<UInt16>.chunkCount
    let blank = [UInt64](repeating: isWanted(0) ? .max : 0, count: count / 64)
    var found = RoaringWriter()
    for chunk in 0..<(end + count - 1) / count {
      guard let column, column.places.chunk(chunk) != nil else {
        found.append(blank)
        continue
      }
      found.append(column.places.words(ofChunk: chunk) { isWanted(Int($0)) })
    }
    return found.finish()
  }
}
