import BorealisBase
import Core
import Storage

/// Adds up the figures of all pushes of tasks or groups, a page of pushes at a time: neither memory nor other
/// apps' turns depend on how many there are.
struct FigureSums: Sendable {
  /// What a sum is of.
  enum Source: Sendable {
    /// A stored message or a scheduled push with its pushes, or a task that is itself the push.
    case task(MessageID)
    /// The pushes of a group below an ID.
    case group(String, below: MessageID)
  }

  /// A place among the pushes of all sources.
  private struct Place: Sendable {
    var source = 0
    var next: MessageID
    /// Pushes before it.
    var count = 0
  }

  /// The most pushes that one answer adds up, and those of a page.
  private static let (mostPushes, pushesInPage) = (100_000, 2000)

  let api: GetuiAPI
  let app: App
  /// Pushes before it are left out.
  let oldest: MessageID
  let sources: [Source]

  /// Gives the sum of each source, in their order; nil for one without a push. 20001 with the name of a
  /// parameter for too many pushes, 30019 if reading fails.
  func read(
    _ parameter: String, done: @escaping @Sendable (Result<[TaskFigures?], GetuiError>) -> Void
  ) {
    let sums = [TaskFigures?](repeating: nil, count: sources.count)
    read(parameter, from: Place(next: oldest), sums, done)
  }

  private func read(
    _ parameter: String, from place: Place, _ sums: [TaskFigures?],
    _ done: @escaping @Sendable (Result<[TaskFigures?], GetuiError>) -> Void
  ) {
    guard place.source < sources.count else { return done(.success(sums)) }
    api.store.read(inTurnOf: app.id) { transaction throws(StorageError) in
      try page(from: place, in: transaction)
    } completion: { [self] result in
      guard case .success(let (pushes, next)) = result else { return done(.failure(.busy)) }
      guard next.count <= Self.mostPushes else {
        return done(.failure(.invalid(parameter, "there are more than \(Self.mostPushes) pushes")))
      }
      api.router.reports.reports(on: pushes.map(\.id), in: app, as: { TaskFigures($0) }) { result in
        guard case .success(let found) = result else { return done(.failure(.busy)) }
        var sums = sums
        for (push, figures) in zip(pushes, found) {
          guard let figures else { continue }
          var sum = sums[push.source] ?? TaskFigures()
          sum.add(figures)
          sums[push.source] = sum
        }
        read(parameter, from: next, sums, done)
      }
    }
  }

  private func page(
    from place: Place, in transaction: ReadTransaction
  ) throws(StorageError) -> (pushes: [(source: Int, id: MessageID)], next: Place) {
    var (place, pushes) = (place, [(source: Int, id: MessageID)]())
    while place.source < sources.count, pushes.count < Self.pushesInPage {
      let limit = Self.pushesInPage - pushes.count
      let found: [MessageID]
      switch sources[place.source] {
      case .task(let task):
        let own = try transaction.getui.pushes(ofTask: task, app: app.id, from: place.next, limit: limit)
        found = own.isEmpty && place.next == oldest && task >= oldest ? [task] : own
      case .group(let name, let end):
        found = try transaction.getui.pushes(
          ofGroup: name, app: app.id, from: place.next, below: end, limit: limit)
      }
      pushes += found.map { (source: place.source, id: $0) }
      place.count += found.count
      if found.count == limit, let last = found.last {
        place.next = MessageID(last.rawValue + 1)
      } else {
        place.source += 1
        place.next = oldest
      }
    }
    return (pushes, place)
  }
}
