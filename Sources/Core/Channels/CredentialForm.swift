import BorealisBase

/// A form with which people give an app a credential of a channel. The console shows it and knows none by
/// name.
package struct CredentialForm: Sendable {
  /// Its name, which `CredentialInput.form` repeats: small letters, digits and hyphens, since it stands in
  /// addresses.
  package let name: String
  /// Its heading, such as "Upload a key (.p8)".
  package let title: Phrase
  /// What it is for and where to get what it asks for.
  package let text: Phrase
  /// What to fill in, in order.
  package let fields: [CredentialField]
  /// What its button says; nil for the words of an upload.
  package let action: Phrase?

  package init(
    _ name: String, title: Phrase, text: Phrase, fields: [CredentialField], action: Phrase? = nil
  ) {
    self.action = action
    self.name = name
    self.title = title
    self.text = text
    self.fields = fields
  }
}

/// A field of a form for credentials.
package struct CredentialField: Sendable {
  /// How it is filled in.
  package enum Kind: Sendable {
    /// One line.
    case text
    /// One line that nobody sees, such as a password. It is never shown again.
    case secret
    /// Several lines that are pasted, such as a key. They are never shown again.
    case lines
    /// A file; what a browser offers, such as `.p8` or `.json`.
    case file(accept: String)
    /// One of these.
    case choice([Choice])
  }

  /// What may be chosen.
  package struct Choice: Sendable {
    /// What stands in the input.
    package let value: String
    /// What people read.
    package let name: Phrase

    /// Both.
    package init(_ value: String, _ name: Phrase) {
      self.value = value
      self.name = name
    }
  }

  /// Most bytes of a line.
  package static let longestLine = 1000

  /// Its name in `CredentialInput.fields`, one of its kind in the form: small letters, digits, hyphens and
  /// underscores. The names `once`, `replaces` and those that begin with `form_` are taken.
  package let name: String
  /// What stands above it.
  package let label: Phrase
  /// How it is filled in.
  package let kind: Kind
  /// What helps to fill it in.
  package let hint: Phrase?
  /// Whether the form is not accepted without it.
  package let isRequired: Bool

  package init(
    _ name: String, _ label: Phrase, _ kind: Kind = .text, hint: Phrase? = nil, isRequired: Bool = true
  ) {
    self.name = name
    self.label = label
    self.kind = kind
    self.hint = hint
    self.isRequired = isRequired
  }
}

extension CredentialForm {
  /// What is wrong with an input that shows without knowing what the fields mean: an empty field that is
  /// required, text that is no UTF-8, or no line that is short enough, a choice that was not offered. Nil for
  /// nothing.
  package func problem(in input: CredentialInput) -> CredentialProblem? {
    fields.lazy.compactMap { field in
      field.problem(in: input.fields[field.name] ?? []).map { CredentialProblem($0, at: field.name) }
    }.first
  }
}

extension CredentialField {
  fileprivate func problem(in bytes: [UInt8]) -> Phrase? {
    if case .file = kind {
      return bytes.isEmpty && isRequired ? Phrase("Choose a file first.", "请先选择文件。") : nil
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return Phrase("This is not text in UTF-8.", "内容不是 UTF-8 文本。")
    }
    switch kind {
    case .choice(let choices):
      // A choice that nobody sent is that of its first.
      let isOffered = bytes.isEmpty || choices.contains { $0.value == text }
      return isOffered ? nil : Phrase("Choose one of the values.", "请选择列表中的值。")
    case .text, .secret:
      // Services get it in headers and addresses.
      if bytes.contains(where: { $0 < 32 || $0 == 127 }) {
        return Phrase("Enter one line without control characters.", "请填写一行，且不含控制字符。")
      }
      if bytes.count > Self.longestLine {
        return Phrase("Enter at most {} bytes.", "最多 {} 字节。").with(String(Self.longestLine))
      }
    case .lines, .file: break
    }
    return isRequired && text.allSatisfy(\.isWhitespace) ? Phrase("Fill in this field.", "请填写此项。") : nil
  }
}
