import BorealisBase
import Model

/// A credential that expires, and the data of its reminder.
package struct EndingCredential: Sendable, Equatable {
  /// The credential.
  package var id: CredentialID
  /// Its app, with the public key and the name.
  package var app: AppID
  /// The public key of the app.
  package var appKey: AppKey
  /// The app's name.
  package var appName: String
  /// Whose app it is.
  package var account: AccountID
  /// The service of the channel that it is for.
  package var service: ServiceID
  /// What it allows to push to: of APNs, the app's bundle ID.
  package var topic: String
  /// SHA-256 of the certificate: one certificate may be for both services.
  package var fingerprint: [UInt8]
  /// When it ends.
  package var expiresAt: Timestamp
  /// The least number of days before the end for which a reminder was given; nil if none was.
  package var remindedDays: Int?
}

/// Somebody who gets mail about an account.
package struct MailRecipient: Sendable, Equatable {
  /// The address.
  package var email: String
  /// The person's name.
  package var name: String
  /// `en` or `zh`.
  package var language: String
}
