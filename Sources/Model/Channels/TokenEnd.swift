/// Why a registration has no token of a kind. Raw values stand in the database.
package enum TokenEnd: UInt8, CaseIterable, Sendable {
  /// It has one, or never had one as far as anybody noted.
  case none = 0
  /// The device took it away.
  case byDevice = 1
  /// The channel's service said that it is gone.
  case byService = 2
  /// Another registration of the app told the same one.
  case taken = 3
  /// The channel's services do not know it: the device told the wrong service, or the token is damaged.
  case wrongService = 4
  /// The service said that it belongs to another app.
  case otherApp = 5
}
