import BorealisBase

/// What would become of a push if it were accepted now: how many devices each channel brings it to, how many
/// of them are silent or wait, and why, and why the others get nothing.
package struct PushForecast: Equatable, Sendable {
  /// Devices that a cause stands for.
  package struct Reason: Equatable, Sendable {
    package let cause: WhyCause
    package let devices: Int

    package init(_ cause: WhyCause, _ devices: Int) {
      self.cause = cause
      self.devices = devices
    }
  }

  /// When a channel brings it.
  package enum Moment: String, Sendable {
    case now
    /// When the device connects, or its app comes to the foreground.
    case later
    /// If the device does not acknowledge in time what it gets over the direct connection
    /// (`fallback_after`).
    case unacknowledged
    /// When the device's quiet hours end: then it is routed, by whichever channel.
    case held
  }

  /// What becomes of it at a device that a channel brings it to.
  package enum Effect: String, CaseIterable, Sendable {
    /// It is shown with a sound. Over the direct connection: a notification, whose sound the app decides on.
    case loud
    /// It makes no sound.
    case silent
    /// It is shown as the app has registered it with the channel's service.
    case registered
    /// The device does not show it.
    case hidden
    /// It waits: the channel does not send it to its service at the moment.
    case waiting
  }

  /// What one channel does.
  package struct Row: Equatable, Sendable {
    package let leg: DeliveryLeg
    package let moment: Moment
    /// By effect; nothing for none.
    package private(set) var counts: [Effect: Int] = [:]
    /// Why devices are silent, do not show it or wait, and why the direct connection keeps what another
    /// channel could bring at once.
    package private(set) var reasons: [Reason] = []

    package init(_ leg: DeliveryLeg, _ moment: Moment) {
      self.leg = leg
      self.moment = moment
    }

    package subscript(effect: Effect) -> Int { counts[effect] ?? 0 }

    /// How many it brings it to.
    package var devices: Int { counts.values.reduce(0, +) }

    /// Counts devices at which the same becomes of it.
    package mutating func add(_ devices: Int, _ effect: Effect, _ cause: WhyCause? = nil) {
      guard devices > 0 else { return }
      counts[effect, default: 0] += devices
      if let cause { reasons.add(devices, cause) }
    }

    /// Says of devices that are counted why they do not get it earlier.
    package mutating func explain(_ devices: Int, _ cause: WhyCause) { reasons.add(devices, cause) }
  }

  /// Devices that the audience names, on the platforms that the push has something for.
  package let audience: Int
  /// Those that get something, now or later.
  package let reached: Int
  /// In the order of the channels; a push may go to one device over several.
  package let rows: [Row]
  /// Why the other devices get nothing.
  package let nothing: [Reason]

  package init(audience: Int, reached: Int, rows: [Row], nothing: [Reason]) {
    self.audience = audience
    self.reached = reached
    self.rows = rows
    self.nothing = nothing
  }
}

extension [PushForecast.Reason] {
  /// Counts devices for a cause.
  package mutating func add(_ devices: Int, _ cause: WhyCause) {
    guard devices > 0 else { return }
    if let known = firstIndex(where: { $0.cause == cause }) {
      self[known] = PushForecast.Reason(cause, self[known].devices + devices)
    } else {
      append(PushForecast.Reason(cause, devices))
    }
  }
}
