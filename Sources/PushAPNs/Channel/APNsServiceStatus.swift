import PushBase
import PushChannels
import PushDomain
import PushRouter
import PushStorage

/// The status of an APNs environment for an app.
@dynamicMemberLookup
public struct APNsServiceStatus: Sendable, Equatable {
  /// Which service.
  public let environment: APNsEnvironment
  /// The status that every channel's services have.
  public var status: ChannelStatus
  /// The credential in use.
  public var credential: APNsCredentialID?
  /// The result of verifying the credential in use; nil if it was not verified since the server started.
  public var check: CredentialCheck?
  /// That the credential in use may be another app's, by the tokens that APNs refuses; nil if there is no doubt.
  public var doubt: Phrase?

  init(_ environment: APNsEnvironment) {
    self.environment = environment
    status = ChannelStatus(.apns, service: environment.name)
  }

  /// Accesses the fields of `status`.
  public subscript<Value>(dynamicMember field: WritableKeyPath<ChannelStatus, Value>) -> Value {
    get { status[keyPath: field] }
    set { status[keyPath: field] = newValue }
  }

  /// The state in one word.
  public var state: String { status.state }
}
