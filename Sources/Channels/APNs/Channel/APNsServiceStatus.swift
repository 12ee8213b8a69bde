import BorealisBase
import Core
import Model
import Storage

/// The status of an APNs environment for an app.
@dynamicMemberLookup
package struct APNsServiceStatus: Sendable, Equatable {
  /// Which service.
  package let environment: APNsEnvironment
  /// The status that every channel's services have.
  package var status: ChannelStatus
  /// The credential in use.
  package var credential: APNsCredentialID?
  /// The result of verifying the credential in use; nil if it was not verified since the server started.
  package var check: CredentialCheck?
  /// That the credential in use may be another app's, by the tokens that APNs refuses; nil if there is no
  /// doubt.
  package var doubt: Phrase?

  init(_ environment: APNsEnvironment) {
    self.environment = environment
    status = ChannelStatus(.apns, service: environment.name)
  }

  /// Accesses the fields of `status`.
  package subscript<Value>(dynamicMember field: WritableKeyPath<ChannelStatus, Value>) -> Value {
    get { status[keyPath: field] }
    set { status[keyPath: field] = newValue }
  }

  /// The state in one word.
  package var state: String { status.state }
}
