import BorealisBase
import Core
import Model
import Storage

/// Recalls pushes, and handles tokens that moved to another registration.
extension QueueState {
  /// Holds a push until it is known whether it was recalled.
  mutating func hold(_ id: MessageID, by holder: PushHolder, until second: Int64) -> ChannelHold {
    var hold = ChannelHold([saving, finished].joined().filter { $0.id == id })
    for leg in legs(of: id) {
      if let answered = open[leg]?.answered, !answered.isEmpty {
        hold.answered[DeliveryLeg(channel, leg.leg)] = answered
      }
    }
    let inFlight = inFlight.numbers(of: id)
    for (leg, numbers) in inFlight { hold.inFlight[DeliveryLeg(channel, leg)] = numbers }
    held.hold(id, by: holder, inFlight: inFlight, until: second)
    return hold
  }

  /// Recalls a push; requests in flight still get their responses. Returns for how many devices the push
  /// waited, the parts that end with this, and whether requests were in flight when the recall began.
  mutating func withdraw(_ id: MessageID) -> (count: Int, over: [ActivePush], wasAsked: Bool) {
    let held = held.remove(id)
    let inFlight = inFlight.numbers(of: id)
    let legs = legs(of: id)
    guard !inFlight.isEmpty else {
      // Ready deliveries and retries are skipped when their turn comes.
      var over = legs.compactMap { close($0) }
      var count = 0
      for index in over.indices {
        count += over[index].withdraw(except: NumberSet(), held: held[over[index].part.leg] ?? NumberSet())
      }
      return (count, over, !held.isEmpty)
    }
    var count = 0
    for leg in legs {
      count +=
        open[leg]?.withdraw(
          except: inFlight[leg.leg] ?? NumberSet(), held: held[leg.leg] ?? NumberSet()) ?? 0
    }
    return (count, [], true)
  }

  /// A request of a push that was recalled in the meantime, or whose place a newer one took, has no final
  /// result: it is not repeated.
  mutating func endIfWithdrawn(_ delivery: Delivery) -> Bool {
    guard open[delivery.key]?.isWithdrawn(for: delivery.row.number) == true else { return false }
    finish(delivery.key, delivery.row.number, ChannelEnd.withdrawn)
    return true
  }

  /// Outdates the tokens of these registrations; returns the requests that may not have been sent yet.
  mutating func tokensChanged(
    of numbers: [RegistrationNumber]
  ) -> [(target: any ServiceTarget, tags: [UInt64])] {
    changes.note(numbers)
    return inFlight.requests(to: numbers)
  }
}

extension ChannelHold {
  /// The results of a push that have come and may not be stored yet.
  fileprivate init(_ unsaved: [ChannelAnswers]) {
    self.init()
    for (leg, results) in unsaved.flatMap(\.results) {
      for numbers in results.values { answered[leg, default: NumberSet()].formUnion(numbers) }
    }
  }
}
