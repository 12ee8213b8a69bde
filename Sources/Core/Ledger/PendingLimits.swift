/// Bounds of the pushes of an app that wait for devices, in memory.
package struct PendingLimits: Sendable {
  /// Pushes to one registration alone that wait for it; beyond it the oldest of these is dropped (QueueFull).
  package var perDevice: UInt32
  /// Open pushes to more than 64 devices; beyond it the oldest of these is dropped for all who do not have it
  /// yet.
  package var toMany = 10_000
  /// Bytes that the open pushes to several devices may take; beyond it the oldest of these is dropped
  /// likewise.
  package var bytes = 64 << 20
  /// Bytes that they may take for each registration, if that is more: 128 pushes to all, of two bits each.
  package var bytesPerRegistration = 32

  /// The defaults, but for pushes to one device.
  package init(perDevice: UInt32 = 10_000) { self.perDevice = perDevice }
}
