import PushBase
import PushDomain
import PushRouter
import PushStorage

/// What Apple said when it was asked whether it takes a credential.
public enum APNsVerdict: Sendable, Equatable {
  /// It takes it.
  case accepted
  /// It refuses it: status and reason.
  case refused(String)
  /// It could not be asked, or gave no clear answer; with the reason.
  case unclear(String)
}

/// An answer to the question whether Apple takes a credential.
public struct APNsCheck: Sendable, Equatable {
  /// The credential.
  public let credential: APNsCredentialID
  /// When it was answered.
  public let at: Timestamp
  /// What was answered.
  public let verdict: APNsVerdict

  /// All fields.
  public init(credential: APNsCredentialID, at: Timestamp, verdict: APNsVerdict) {
    self.credential = credential
    self.at = at
    self.verdict = verdict
  }
}

/// How the way to one of Apple's services stands for an app.
@dynamicMemberLookup
public struct APNsServiceStatus: Sendable, Equatable {
  /// Which service.
  public let environment: APNsEnvironment
  /// What any channel's service has.
  public var status: ChannelStatus
  /// The credential in use.
  public var credential: APNsCredentialID?
  /// What Apple said when it was asked about the credential in use; nil if it was not asked since the server started.
  public var check: APNsCheck?

  init(_ environment: APNsEnvironment) {
    self.environment = environment
    status = ChannelStatus(.apns, service: environment.name)
  }

  /// The fields of `status`.
  public subscript<Value>(dynamicMember field: WritableKeyPath<ChannelStatus, Value>) -> Value {
    get { status[keyPath: field] }
    set { status[keyPath: field] = newValue }
  }

  /// One word for it.
  public var state: String { status.state }
}
