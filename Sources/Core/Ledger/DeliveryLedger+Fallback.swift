import BorealisBase

/// Pushes of which a vendor's channel takes over what devices do not acknowledge in time.
extension DeliveryLedger {
  /// For which of some registrations a push waits.
  func waiting(_ id: MessageID, among candidates: NumberSet) -> NumberSet {
    var waiting = NumberSet(lists.owners(of: id))
    if let place = groups.place(of: id) { waiting.formUnion(groups[place].waiting) }
    waiting.formIntersection(candidates)
    return waiting
  }

  /// Whether a push waits for anybody besides some registrations.
  func isWaiting(_ id: MessageID, besides others: NumberSet) -> Bool {
    if lists.owners(of: id).contains(where: { !others.contains($0) }) { return true }
    guard let place = groups.place(of: id) else { return false }
    return !groups[place].waiting.subtracting(others).isEmpty
  }

  /// A vendor's channel brings a pinned push to some of those for whom it waits: it does not wait for them
  /// any more.
  mutating func handOver(_ id: MessageID, _ numbers: NumberSet, in table: inout RegistrationTable) {
    if let place = groups.place(of: id) {
      groups[place].progress.handedOver.formUnion(groups[place].waiting.intersection(numbers))
    }
    let owners = lists.owners(of: id).filter { numbers.contains($0) }
    for number in owners where remove(id, of: number, in: &table) {
      partly[id, default: DeliveryProgress()].handedOver.insert(number)
    }
  }

  /// The channel has refused a push for some: those who were handed over to it are that no more. Returns for
  /// whom it waits again with the others of a push to many.
  mutating func awaitAgain(_ id: MessageID, _ numbers: [RegistrationNumber]) -> Set<RegistrationNumber> {
    var waiting: Set<RegistrationNumber> = []
    if let place = groups.place(of: id) {
      for number in numbers where groups.awaitAgain(number, at: place) { waiting.insert(number) }
    }
    for number in numbers { _ = partly[id]?.handedOver.remove(number) }
    return waiting
  }
}
