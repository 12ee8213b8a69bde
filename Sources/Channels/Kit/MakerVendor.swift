import BorealisBase
import Core
import Model

/// A maker's service to which an app proves itself with a few IDs and a secret, as the maker's console shows
/// them.
package protocol MakerVendor: Vendor where Credential == VendorFields {
  /// What is wrong with fields that are each in the right form.
  func check(_ fields: VendorFields) throws(CredentialProblem)
}

extension CredentialProfile {
  /// Of a maker's channel: the first step, which is also the title of the form ("Set up OPPO PUSH"), what it
  /// is good for, that there is none, where in the maker's console the fields are found, and these; the first
  /// is the subject of a credential.
  init(
    maker channel: ChannelInfo, step: Phrase, purpose: Phrase, none: Phrase, place: Phrase,
    fields: [CredentialField]
  ) {
    self.init(
      texts: CredentialTexts(step: step, stepText: purpose, none: none),
      form: CredentialForm(
        channel.name, title: step, text: place, fields: fields, action: Phrase("Save", "保存")),
      subject: fields[0].label, subjectField: fields[0].name)
  }
}

extension ChannelOptions {
  /// Without the class of the activity there is no number.
  static let badgeNeeds: [String: Set<String>] = ["badge_class": ["badge_add_num", "badge_set_num"]]
  /// The number on the icon for makers whose phones keep it, besides what the notification says to all.
  static let badge: [String: FieldKind] = [
    "badge_class": .text, "badge_add_num": .integer(1...99), "badge_set_num": .integer(0...99),
  ]
}

extension MakerVendor {
  /// Reads the form.
  package func read(
    _ input: CredentialInput, replacing current: VendorFields?
  ) throws(CredentialProblem) -> VendorUpload {
    let optional = form.fields.filter { !$0.isRequired }.map(\.name)
    let fields = try VendorFields(input, form.fields.map(\.name), optional: Set(optional))
    try check(fields)
    return VendorUpload(subject: fields[form.fields[0].name], name: "", secret: fields.secret)
  }

  /// Nothing.
  package func check(_ fields: VendorFields) throws(CredentialProblem) {}
}
