import BorealisBase
import Storage

/// The facts of the registrations of one app: for each fact that the app asks for a column with two bytes for
/// each registration, and the values that these stand for. A value: a copy shares the columns until one of
/// them changes, and can be searched without a lock.
package struct FactTable: Sendable {
  /// Values of one fact that an app may have.
  package static let mostValues = 10_000
  /// Values that nobody has which one change deletes at most, to make room.
  private static let mostDeleted = 64

  /// One fact.
  struct Column: Sendable {
    /// The place of each registration's value in `values`; 0 if it has none.
    fileprivate(set) var places = ChunkedArray<UInt16>(blank: 0)
    /// The values at their places, which are used again; an unused one has no number.
    fileprivate(set) var values: [(number: UInt32?, text: String, count: Int)] = [(nil, "", 0)]
    fileprivate var byNumber: [UInt32: UInt16] = [:]
    fileprivate var free: [UInt16] = []

    /// How many registrations have each value, those that nobody has included.
    var counts: [String: Int] {
      var counts: [String: Int] = [:]
      for value in values.dropFirst() where value.number != nil { counts[value.text] = value.count }
      return counts
    }

    /// The place of a registration's value; 0 if it has none.
    func place(of number: RegistrationNumber) -> UInt16 {
      Int(number.rawValue) < places.count ? places[number.rawValue] : 0
    }

    /// Numbers of values that nobody has.
    fileprivate func unused(_ limit: Int) -> [UInt32] {
      Array(values.lazy.filter { $0.count == 0 }.compactMap(\.number).prefix(limit))
    }

    fileprivate mutating func define(_ number: UInt32, _ text: String) {
      guard byNumber[number] == nil else { return }
      guard let place = free.popLast() ?? UInt16(exactly: values.count) else { return }
      if Int(place) == values.count { values.append((nil, "", 0)) }
      values[Int(place)] = (number, text, 0)
      byNumber[number] = place
    }

    fileprivate mutating func forget(_ number: UInt32) {
      guard let place = byNumber.removeValue(forKey: number) else { return }
      assert(values[Int(place)].count == 0, "a value that a registration has is not deleted")
      values[Int(place)] = (nil, "", 0)
      free.append(place)
    }

    fileprivate mutating func set(_ value: UInt32?, of number: RegistrationNumber) {
      let (before, after) = (place(of: number), value.flatMap { byNumber[$0] } ?? 0)
      guard before != after else { return }
      places.reach(number.rawValue)
      places[number.rawValue] = after
      if before > 0 { values[Int(before)].count -= 1 }
      if after > 0 { values[Int(after)].count += 1 }
    }
  }

  private(set) var columns: [DeviceFact: Column] = [:]
  /// Which fact the value of a number is one of.
  private var factOfNumber: [UInt32: DeviceFact] = [:]

  /// The facts of a registration.
  func facts(of number: RegistrationNumber) -> [DeviceFact: String] {
    columns.compactMapValues { column in
      let place = column.place(of: number)
      return place == 0 ? nil : column.values[Int(place)].text
    }
  }

  /// How much room there is for values that no registration has reported yet.
  func room() -> FactRoom {
    FactRoom(
      limit: Self.mostValues, known: columns.mapValues { $0.byNumber.count },
      unused: columns.filter { $0.value.byNumber.count >= Self.mostValues }
        .mapValues { $0.unused(Self.mostDeleted) })
  }

  /// The same for a program that does not have an app's facts in memory: it deletes none.
  static func room(of app: AppID, in transaction: ReadTransaction) throws(StorageError) -> FactRoom {
    FactRoom(limit: mostValues, known: try transaction.facts.counts(app: app))
  }

  /// Those of some values that nobody has.
  func unused(among numbers: [UInt32]) -> [UInt32] {
    numbers.filter { number in
      guard let column = factOfNumber[number].flatMap({ columns[$0] }), let place = column.byNumber[number]
      else { return false }
      return column.values[Int(place)].count == 0
    }
  }

  /// Forgets values that nobody has.
  mutating func forget(_ numbers: [UInt32]) {
    for number in numbers {
      if let fact = factOfNumber.removeValue(forKey: number) { columns[fact]?.forget(number) }
    }
  }

  /// Gives a number its value.
  mutating func define(_ value: FactValue) {
    factOfNumber[value.number] = value.fact
    columns[value.fact, default: Column()].define(value.number, value.text)
  }

  /// Sets values of a registration, by their numbers.
  mutating func load(_ numbers: [UInt32], of registration: RegistrationNumber) {
    for number in numbers {
      if let fact = factOfNumber[number] { columns[fact]?.set(number, of: registration) }
    }
  }

  /// Applies a change that was stored.
  mutating func apply(_ change: FactChange, of registration: RegistrationNumber?) {
    forget(change.deleted)
    for value in change.set { define(value) }
    guard let registration else { return }
    for value in change.set { columns[value.fact]?.set(value.number, of: registration) }
    for fact in change.cleared { columns[fact]?.set(nil, of: registration) }
  }

  /// A registration is gone.
  mutating func remove(_ registration: RegistrationNumber) {
    for fact in columns.keys { columns[fact]?.set(nil, of: registration) }
  }

  /// Forgets all facts but some.
  mutating func keep(_ wanted: DeviceFactSet) {
    if columns.keys.contains(where: { !wanted.contains($0) }) {
      columns = columns.filter { wanted.contains($0.key) }
      factOfNumber = factOfNumber.filter { wanted.contains($0.value) }
    }
  }
}
