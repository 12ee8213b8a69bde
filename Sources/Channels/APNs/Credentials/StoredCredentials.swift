import BorealisBase
import Model
import Storage

/// The number of a stored credential.
package typealias APNsCredentialID = CredentialID
/// How an app proves itself to Apple.
package typealias APNsCredentialKind = CredentialKind
/// Whether a credential may be used.
package typealias APNsCredentialState = CredentialState
/// A stored credential without its secret.
package typealias APNsCredentialRow = CredentialRow

extension CredentialRow {
  /// The APNs environment that it is for.
  package var environment: APNsEnvironment { APNsEnvironment(rawValue: service.rawValue) ?? .none }
  /// The app's bundle ID.
  package var topic: String { subject }
  /// Apple's ID of a key; nil for a certificate.
  package var keyID: String? { name.isEmpty ? nil : name }
}

extension EndingCredential {
  /// The APNs environment that it is for.
  var environment: APNsEnvironment { APNsEnvironment(rawValue: service.rawValue) ?? .none }
}
