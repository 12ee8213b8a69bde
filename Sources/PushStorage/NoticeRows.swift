import PushBase
import PushDomain

/// A credential that expires, and the data of its reminder.
public struct EndingCredential: Sendable, Equatable {
  /// The credential.
  public var id: CredentialID
  /// Its app, with the public key and the name.
  public var app: AppID
  /// The public key of the app.
  public var appKey: AppKey
  /// The app's name.
  public var appName: String
  /// Whose app it is.
  public var account: AccountID
  /// The service of the channel that it is for.
  public var service: ServiceID
  /// What it allows to push to: of APNs, the app's bundle ID.
  public var topic: String
  /// SHA-256 of the certificate: one certificate may be for both services.
  public var fingerprint: [UInt8]
  /// When it ends.
  public var expiresAt: Timestamp
  /// The least number of days before the end for which a reminder was given; nil if none was.
  public var remindedDays: Int?
}

/// Somebody who gets mail about an account.
public struct MailRecipient: Sendable, Equatable {
  /// The address.
  public var email: String
  /// The person's name.
  public var name: String
  /// `en` or `zh`.
  public var language: String
}
