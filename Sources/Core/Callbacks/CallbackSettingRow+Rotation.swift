import BorealisBase
import Storage

extension CallbackSettingRow {
  /// The setting with another secret, sealed, while the previous one also signs for a day; nil if `rotation`
  /// does not fit the current state.
  func withSecret(_ sealed: [UInt8], _ rotation: SecretRotation, at now: Timestamp) -> CallbackSettingRow? {
    var row = self
    let bothSign = old.map { now < $0.until } ?? false
    switch rotation {
    case .begin where bothSign, .again where !bothSign: return nil
    case .again: break
    case .begin, .shift: row.old = (secret, now.adding(seconds: CallbackService.overlap))
    }
    row.secret = sealed
    return row
  }
}
