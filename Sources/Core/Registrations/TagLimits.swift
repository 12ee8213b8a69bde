import BorealisBase
import Model

/// How many names of tags an app may have, and how long those are kept that no registration has.
package struct TagLimits: Sendable {
  /// Names of an app.
  package var ofApp = RegistrationLimits.tagsPerApp
  /// Names of an app when its devices may make no more.
  package var byDevices = RegistrationLimits.tagsPerAppByDevices
  /// New names that a device may make in a day.
  package var newPerDay = RegistrationLimits.newTagsPerDay
  /// Seconds that the name of a tag is kept that no registration has.
  package var unusedSeconds = UInt32(RegistrationLimits.unusedTagSeconds)

  /// The defaults.
  package init() {}
}

/// How many new names of tags an app's devices have made in a day. What a server's start loses is counted
/// anew.
struct NewTagCounts: Sendable {
  private var day: Int64 = 0
  private var counts: [UInt32: Int] = [:]

  /// How many a registration's device has made on a day.
  func count(of number: RegistrationNumber, on day: Int64) -> Int {
    day == self.day ? counts[number.rawValue] ?? 0 : 0
  }

  /// Counts some more.
  mutating func add(_ count: Int, of number: RegistrationNumber, on day: Int64) {
    if day != self.day { (self.day, counts) = (day, [:]) }
    counts[number.rawValue, default: 0] += count
  }
}
