/// The event types for an app server: JPush's bits of `callback.type`, and two extensions that concern the
/// app itself.
package struct CallbackTypes: OptionSet, Hashable, Sendable {
  /// The sum of the bits.
  package let rawValue: UInt8

  /// Wraps the bits.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The push arrived at the device.
  package static let delivered = CallbackTypes(rawValue: 1)
  /// The user tapped the notification.
  package static let clicked = CallbackTypes(rawValue: 2)
  /// The push will not arrive at the device; with a reason.
  package static let notDelivered = CallbackTypes(rawValue: 4)
  /// The push was sent to the device, or a service took it.
  package static let handedOver = CallbackTypes(rawValue: 8)
  /// A credential for Apple is paused.
  package static let credentialPaused = CallbackTypes(rawValue: 16)
  /// A certificate for Apple ends soon.
  package static let credentialExpires = CallbackTypes(rawValue: 32)

  /// The device showed the notification. Only Getui's format has an event for it, and sends it wherever
  /// `delivered` is turned on: it cannot be chosen.
  package static let shown = CallbackTypes(rawValue: 64)

  /// All that concerns pushes: what `callback.type` of a push may hold.
  package static let push: CallbackTypes = [.delivered, .clicked, .notDelivered, .handedOver]
  /// All types that can be chosen, the default.
  package static let all: CallbackTypes = [.push, .credentialPaused, .credentialExpires]

  /// The names of single bits, as events carry them.
  package static let names: [(type: CallbackTypes, name: String)] = [
    (.delivered, "delivered"), (.clicked, "clicked"), (.notDelivered, "not_delivered"),
    (.handedOver, "handed_over"), (.credentialPaused, "credential_paused"),
    (.credentialExpires, "credential_expires"), (.shown, "shown"),
  ]

  /// The names of the types that can be chosen.
  package static var choices: [(type: CallbackTypes, name: String)] { names.filter { all.contains($0.type) } }

  /// The name of a single bit; of none, that of the event that only tries the way.
  package var name: String { Self.names.first { $0.type == self }?.name ?? "ping" }
}
