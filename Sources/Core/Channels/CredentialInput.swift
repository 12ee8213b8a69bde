import BorealisBase

/// A credential as somebody hands it in: a channel checks it and stores it sealed. Whoever passes it on knows
/// neither its fields nor what they mean.
package struct CredentialInput: Sendable {
  /// What kind of credential it is: `CredentialForm.name`.
  package let form: String
  /// What was handed in, by the names of fields: texts in UTF-8, as they were typed, and files.
  package let fields: [String: [UInt8]]
  /// What files are called, by the names of fields, as far as that is known.
  package let fileNames: [String: String]
  /// The ID of the app's credential that it is meant to replace; nil for the one that the channel would
  /// replace anyway, or none.
  package let replaces: String?

  package init(
    _ form: String, fields: [String: [UInt8]], fileNames: [String: String] = [:], replaces: String? = nil
  ) {
    self.form = form
    self.fields = fields
    self.fileNames = fileNames
    self.replaces = replaces
  }

  /// A text without white space around it; nil if there is none, or if it is no UTF-8.
  package func text(_ field: String) -> String? {
    guard let text = secret(field)?.withoutOuterWhitespace else { return nil }
    return text.isEmpty ? nil : text
  }

  /// A text as it was typed; nil if there is none, or if it is no UTF-8.
  package func secret(_ field: String) -> String? {
    fields[field].flatMap { String(validating: $0, as: UTF8.self) }
  }

  /// Why credentials were not taken.
  package enum Refusal: Error, Sendable, Equatable {
    /// They cannot be used, or not for this app.
    case refused(CredentialProblem)
    /// The server cannot read the key that it seals secrets with; its log says why.
    case noKey
    /// The store cannot take changes now; try again later.
    case unavailable
  }
}

/// What is wrong with a credential that was handed in.
package struct CredentialProblem: Error, Sendable, Equatable {
  /// A sentence for people: what is wrong and what to do.
  package let phrase: Phrase
  /// The name of the field that it is about; nil for the whole form.
  package let field: String?
  /// The same for APIs: one line without a full stop.
  package let reason: String

  /// By default APIs get the English phrase.
  package init(_ phrase: Phrase, at field: String? = nil, reason: String? = nil) {
    self.phrase = phrase
    self.field = field
    self.reason = reason ?? String(phrase.english.trimmingSuffix { $0 == "." })
  }
}

extension StringProtocol {
  fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> SubSequence {
    var end = endIndex
    while end > startIndex, isTrimmed(self[index(before: end)]) { end = index(before: end) }
    return self[..<end]
  }
}

/// A credential that was taken.
package struct CredentialReceipt: Sendable, Equatable {
  /// What it is and is for, in a sentence: "This certificate is for com.example.app, sandbox, and expires in
  /// 23 days."
  package let phrase: Phrase
  /// The services that it is for, by their names in `ChannelInfo.services`; empty for a channel that has only
  /// one.
  package let services: [String]

  package init(_ phrase: Phrase, services: [String] = []) {
    self.phrase = phrase
    self.services = services
  }
}

/// What a channel's service has answered about a credential, or why it could not be asked: observed, not
/// assumed.
package struct CredentialAnswer: Sendable, Equatable {
  /// A sentence for people.
  package let phrase: Phrase
  /// Whether somebody has to do something.
  package let isBad: Bool

  package init(_ phrase: Phrase, isBad: Bool) {
    self.phrase = phrase
    self.isBad = isBad
  }
}
