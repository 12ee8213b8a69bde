import BorealisBase
import HTTP

/// Bounds of the router's memory and of what the database keeps. The defaults suit a server.
package struct RouterOptions: Sendable {
  /// Pushes that may wait for an app's devices.
  package var pending = PendingLimits()
  /// Bytes of contents kept in memory for devices that come back.
  package var cachedContents = 16 << 20
  /// Seconds that a push and its outcome stay in the database, if nothing of it is undelivered. At least the
  /// longest time to live, so that overriding and reports work.
  package var retention: Int64 = 31 * 86_400
  /// Seconds for which a repeated `cid` gives the first answer (JPush: a day).
  package var cidLifetime: Int64 = 86_400
  /// Seconds after which a push can no longer be overridden (JPush: a day).
  package var overrideLifetime: Int64 = 86_400
  /// Seconds for which receipts of a push are counted (JPush: five days).
  package var receiptLifetime: Int64 = 5 * 86_400
  /// Seconds that an online-only push has to reach the devices that are online.
  package var onlineOnlySeconds: Int64 = 30
  /// Seconds by which the database's time of last contact may be behind.
  package var lastSeenPrecision: UInt32 = 600
  /// Seconds after which a lasting connection is stored again.
  package var lastingPeriod: UInt32 = 3600
  /// Rows that one step of housekeeping changes; a step holds up the pushes that share its commit.
  package var sweepRows = 256
  /// Names of tags of an app.
  package var tags = TagLimits()
  /// Registrations that an app may have. Devices that come back anew replace theirs also when it has them.
  package var registrationsPerApp = 10_000_000
  /// Seconds after which a registration is deleted that no device used after its first hour; nil for never.
  package var newcomerSeconds: Int64?
  /// Seconds after which a registration is deleted whose device was not there; nil for never (JPush: 255
  /// days).
  package var inactiveSeconds: Int64?
  /// Schedules that an app may have of which something may still come (JPush: 100).
  package var schedulesPerApp = 100
  /// Seconds by which a schedule may fire late, after the server was down or its clock jumped; but not longer
  /// than its push lives.
  package var scheduleGrace: Int64 = 6 * 3600
  /// The base URL of links in mail, such as `https://push.example.com`; nil if no mail is sent.
  package var mailSite: String?
  /// Which calls of the HTTP APIs are logged in the database.
  package var requestLog = RequestLog.Extent.all
  /// The zone that times in the API's requests and answers are in (JPush: UTC+8).
  package var zone: any Zone = FixedZone.china
  /// The zones that devices may be in; nil for those of the system.
  package var deviceZones: TimeZones?
  /// Follows calls and pushes through their traces; nil if nothing is traced.
  package var tracer: Tracer?

  /// The defaults.
  package init() {}
}
