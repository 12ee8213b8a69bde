import PushBase

/// A credential of an app, as pages show it. It holds nothing secret.
public struct StoredCredential: Sendable {
  /// Whether it is used.
  public enum State: Sendable, Equatable {
    /// For pushes.
    case inUse
    /// When the one that replaced it cannot be used.
    case standby
    /// Not until somebody resumes it.
    case paused
  }

  /// Something to know about it.
  public struct Fact: Sendable {
    /// What it is, such as "Bundle ID".
    public let label: Phrase
    /// The value, as it is in both languages.
    public let value: String
    /// Whether the value is a code that people compare, such as a fingerprint.
    public let isCode: Bool
    /// Whether people need the value elsewhere: the page has a button that copies it. It is a code then.
    public let isCopied: Bool
    /// What else to say, quietly.
    public let note: Phrase?

    /// All fields.
    public init(
      _ label: Phrase, _ value: String, isCode: Bool = false, isCopied: Bool = false, note: Phrase? = nil
    ) {
      self.label = label
      self.value = value
      self.isCode = isCode || isCopied
      self.isCopied = isCopied
      self.note = note
    }
  }

  /// What was observed of it: a paragraph.
  public struct Remark: Sendable, Equatable {
    /// A sentence.
    public let phrase: Phrase
    /// Whether somebody has to do something.
    public let isBad: Bool

    /// All fields.
    public init(_ phrase: Phrase, isBad: Bool = false) {
      self.phrase = phrase
      self.isBad = isBad
    }
  }

  /// Names it among all credentials of its channel: letters, digits and hyphens, since it stands in addresses.
  public let id: String
  /// The app that has it.
  public let app: AppID
  /// The service that it is for, by its name in `ChannelInfo.services`; empty for a channel that has only one.
  public let service: String
  /// What it is called: "Key ABC123DEFG".
  public let name: Phrase
  /// What it is for, as its service calls it: the bundle ID, the project, the app ID.
  public let subject: Fact
  /// Whether it is used.
  public let state: State
  /// When it ends; nil for never.
  public let expiresAt: Timestamp?
  /// When it was handed in.
  public let addedAt: Timestamp
  /// Whether a newer one has replaced it: its end matters to nobody.
  public var isReplaced = false
  /// What else to know.
  public var facts: [Fact] = []
  /// Its state in sentences: why it is paused, what was seen of the connections, what the service said of it.
  public var remarks: [Remark] = []
  /// What people can do with it.
  public var actions: CredentialActions = .remove
  /// What forms have in their fields when it is replaced, by the names of fields; without choices also when another one is added
  /// and this is the latest. Nothing secret.
  public var values: [String: String] = [:]
  /// What pages subscribe with; nil for a channel without subscriptions.
  public var publicKey: String?
  /// The form with which it is replaced; nil if no form is offered for that.
  public var form: String?

  /// A credential that is not replaced and of which nothing more is known.
  public init(
    id: String, app: AppID, service: String = "", name: Phrase, subject: Fact, state: State,
    expiresAt: Timestamp? = nil, addedAt: Timestamp
  ) {
    self.id = id
    self.app = app
    self.service = service
    self.name = name
    self.subject = subject
    self.state = state
    self.expiresAt = expiresAt
    self.addedAt = addedAt
  }
}

/// What people can do with a credential.
public struct CredentialActions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt8

  /// Makes a set of its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Have the service asked about it now.
  public static let check = CredentialActions(rawValue: 1)
  /// Stop using it.
  public static let pause = CredentialActions(rawValue: 2)
  /// Use it again.
  public static let resume = CredentialActions(rawValue: 4)
  /// Delete it.
  public static let remove = CredentialActions(rawValue: 8)
}

/// A change of a credential.
public enum CredentialChange: Sendable, Equatable {
  /// It is deleted.
  case remove
  /// It is not used until it is resumed; who wants that.
  case pause(by: String)
  /// It is used again.
  case resume
}
