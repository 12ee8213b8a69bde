import PushBase
import PushDomain
import PushStorage

/// The number of a stored credential.
public typealias APNsCredentialID = CredentialID
/// How an app proves itself to Apple.
public typealias APNsCredentialKind = CredentialKind
/// Whether a credential may be used.
public typealias APNsCredentialState = CredentialState
/// A stored credential without its secret.
public typealias APNsCredentialRow = CredentialRow

extension CredentialRow {
  /// The APNs environment that it is for.
  public var environment: APNsEnvironment { APNsEnvironment(rawValue: service.rawValue) ?? .none }
}

extension EndingCredential {
  /// The APNs environment that it is for.
  var environment: APNsEnvironment { APNsEnvironment(rawValue: service.rawValue) ?? .none }
}
