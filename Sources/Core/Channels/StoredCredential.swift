import BorealisBase

/// A credential of an app, as pages show it. It holds nothing secret.
package struct StoredCredential: Sendable {
  /// Whether it is used.
  package enum State: Sendable, Equatable {
    /// For pushes.
    case inUse
    /// When the one that replaced it cannot be used.
    case standby
    /// Not until somebody resumes it.
    case paused
  }

  /// Something to know about it.
  package struct Fact: Sendable {
    /// What it is, such as "Bundle ID".
    package let label: Phrase
    /// The value, as it is in both languages.
    package let value: String
    /// Whether the value is a code that people compare, such as a fingerprint.
    package let isCode: Bool
    /// Whether people need the value elsewhere: the page has a button that copies it. It is a code then.
    package let isCopied: Bool
    /// What else to say, quietly.
    package let note: Phrase?

    package init(
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
  package struct Remark: Sendable, Equatable {
    /// A sentence.
    package let phrase: Phrase
    /// Whether somebody has to do something.
    package let isBad: Bool

    package init(_ phrase: Phrase, isBad: Bool = false) {
      self.phrase = phrase
      self.isBad = isBad
    }
  }

  /// Names it among all credentials of its channel: letters, digits and hyphens, since it stands in
  /// addresses.
  package let id: String
  package let app: AppID
  /// The service that it is for, by its name in `ChannelInfo.services`; empty for a channel that has only
  /// one.
  package let service: String
  /// What it is called: "Key ABC123DEFG".
  package let name: Phrase
  /// What it is for, as its service calls it: the bundle ID, the project, the app ID.
  package let subject: Fact
  /// Whether it is used.
  package let state: State
  /// When it ends; nil for never.
  package let expiresAt: Timestamp?
  /// When it was handed in.
  package let addedAt: Timestamp
  /// Whether a newer one has replaced it: its end matters to nobody.
  package var isReplaced = false
  /// What else to know.
  package var facts: [Fact] = []
  /// Its state in sentences: why it is paused, what was seen of the connections, what the service said of it.
  package var remarks: [Remark] = []
  /// What people can do with it.
  package var actions: CredentialActions = .remove
  /// What forms have in their fields when it is replaced, by the names of fields; without choices also when
  /// another one is added and this is the latest. Nothing secret.
  package var values: [String: String] = [:]
  /// What pages subscribe with; nil for a channel without subscriptions.
  package var publicKey: String?
  /// The form with which it is replaced; nil if no form is offered for that.
  package var form: String?

  /// A credential that is not replaced and of which nothing more is known.
  package init(
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
package struct CredentialActions: OptionSet, Sendable {
  /// The bits.
  package let rawValue: UInt8

  /// Makes a set of its bits.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Have the service asked about it now.
  package static let check = CredentialActions(rawValue: 1)
  /// Stop using it.
  package static let pause = CredentialActions(rawValue: 2)
  /// Use it again.
  package static let resume = CredentialActions(rawValue: 4)
  /// Delete it.
  package static let remove = CredentialActions(rawValue: 8)
}

/// A change of a credential.
package enum CredentialChange: Sendable, Equatable {
  /// It is deleted.
  case remove
  /// It is not used until it is resumed; who wants that.
  case pause(by: String)
  /// It is used again.
  case resume
}
