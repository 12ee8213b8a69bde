import BorealisBase
import Model

/// What happens with a push at registrations, as their devices are now.
package struct PushReach: Sendable {
  /// What happens at one registration.
  package enum Way: Sendable, Equatable {
    /// The direct connection brings it now.
    case connected
    /// A vendor's channel brings it, or it waits for the device.
    case away
    /// The push is not sent to it.
    case none
  }

  private let connected, reached: NumberSet

  /// What acceptance would do with a push at some registrations that its audience names.
  package init(
    of request: AcceptRequest, to numbers: [RegistrationNumber], in app: App, _ acceptance: Acceptance
  ) {
    let directory = app.directory
    let members = directory.those(of: Set(numbers).sorted(), on: request.push.platforms)
    let audience = acceptance.admissible(Recipients(members), request, in: app).recipients
    let plan = acceptance.plan(request, to: audience, in: app)
    let own = plan.own.numbers
    connected = NumberSet(directory.reachable(among: own.members()))
    reached = plan.vendors.reduce(into: own) { $0.formUnion($1.targets.numbers) }
  }

  /// What happens at a registration.
  package subscript(number: RegistrationNumber) -> Way {
    connected.contains(number) ? .connected : reached.contains(number) ? .away : .none
  }
}
