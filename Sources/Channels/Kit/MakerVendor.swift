import BorealisBase
import Core
import Model

/// A maker's service to which an app proves itself with a few IDs and a secret, as the maker's console shows
/// them.
package protocol MakerVendor: Vendor where Credential == VendorFields {
  /// What a credential is made of.
  var maker: MakerCredential { get }
  /// What is wrong with fields that are each in the right form.
  func check(_ fields: VendorFields) throws(CredentialProblem)
}

/// What a credential of a maker's service is made of, and what pages say of it.
package struct MakerCredential: Sendable {
  /// The first step, which is also the title of the form: "Set up OPPO PUSH".
  let step: Phrase
  /// What it is good for.
  let purpose: Phrase
  /// That there is none.
  let none: Phrase
  /// Where in the maker's console the fields are found.
  let place: Phrase
  /// The fields; the first is the subject of a credential.
  let fields: [CredentialField]
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
  /// What pages say of it.
  package var texts: CredentialTexts {
    CredentialTexts(step: maker.step, stepText: maker.purpose, none: maker.none)
  }

  /// The fields.
  package var form: CredentialForm {
    CredentialForm(
      info.name, title: maker.step, text: maker.place, fields: maker.fields, action: Phrase("Save", "保存"))
  }

  /// What the first field is called.
  package var subjectLabel: Phrase { maker.fields[0].label }
  /// The first field.
  package func values(of subject: String) -> [String: String] { [maker.fields[0].name: subject] }

  /// Reads the form.
  package func read(
    _ input: CredentialInput, replacing current: VendorFields?
  ) throws(CredentialProblem) -> VendorUpload {
    let optional = maker.fields.filter { !$0.isRequired }.map(\.name)
    let fields = try VendorFields(input, maker.fields.map(\.name), optional: Set(optional))
    try check(fields)
    return VendorUpload(subject: fields[maker.fields[0].name], name: "", secret: fields.secret)
  }

  /// Nothing.
  package func check(_ fields: VendorFields) throws(CredentialProblem) {}
}
