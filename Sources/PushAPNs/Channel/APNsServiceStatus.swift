import PushBase
import PushDomain
import PushRouter
import PushStorage

/// The result of verifying a credential with APNs.
public enum APNsVerdict: Sendable, Equatable {
  /// APNs accepts it.
  case accepted
  /// APNs rejects it: status and reason.
  case refused(String)
  /// APNs could not be reached, or gave no clear response; with the reason.
  case unclear(String)
}

/// The result of verifying a credential, with its time.
public struct APNsCheck: Sendable, Equatable {
  /// The credential.
  public let credential: APNsCredentialID
  /// The time of the result.
  public let at: Timestamp
  /// The result.
  public let verdict: APNsVerdict

  /// All fields.
  public init(credential: APNsCredentialID, at: Timestamp, verdict: APNsVerdict) {
    self.credential = credential
    self.at = at
    self.verdict = verdict
  }
}

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
  public var check: APNsCheck?

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
