import BorealisBase

/// The resolved audience of a push, fixed when it was accepted.
package enum Recipients: Sendable {
  /// Up to `DeliveryLedger.listedTargets` registrations, ascending.
  case few([RegistrationNumber])
  /// A set of any size.
  case many(NumberSet)

  /// How many registrations.
  package var count: Int {
    switch self {
    case .few(let numbers): numbers.count
    case .many(let set): set.count
    }
  }

  /// Whether it is empty.
  package var isEmpty: Bool {
    switch self {
    case .few(let numbers): numbers.isEmpty
    case .many(let set): set.isEmpty
    }
  }

  /// The registrations as a set.
  package var numbers: NumberSet {
    switch self {
    case .few(let numbers): NumberSet(numbers)
    case .many(let set): set
    }
  }

  /// A set in its cheaper form.
  init(_ set: NumberSet) {
    self = set.count <= DeliveryLedger.listedTargets ? .few(set.members()) : .many(set)
  }

  /// Ascending numbers in their cheaper form.
  init(_ numbers: [RegistrationNumber]) {
    self = numbers.count <= DeliveryLedger.listedTargets ? .few(numbers) : .many(NumberSet(numbers))
  }

  /// Leaves out the members of a set.
  func subtracting(_ others: NumberSet) -> Recipients {
    switch self {
    case .few(let numbers): .few(numbers.filter { !others.contains($0) })
    case .many(let set): Recipients(set.subtracting(others))
    }
  }

  /// Keeps only the members of a set.
  package func intersection(_ others: NumberSet) -> Recipients {
    switch self {
    case .few(let numbers): return .few(numbers.filter { others.contains($0) })
    case .many(var set):
      set.formIntersection(others)
      return Recipients(set)
    }
  }
}
