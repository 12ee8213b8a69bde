import BorealisBase
import Core
import HTTP

/// A form of a channel for credentials, as a page shows it.
struct CredentialFormView: Sendable {
  let call: PageCall
  let channel: any ChannelCredentials
  /// The app's credentials of the channel, the oldest first.
  let stored: [StoredCredential]
  /// What is wrong with the form that was sent.
  let problem: CredentialProblem?

  /// The credential that somebody replaces.
  private var replaced: StoredCredential? {
    let id = call.text("replaces") ?? call.target["replace"]
    return stored.first { $0.id == id }
  }

  func html(_ form: CredentialForm, action: String) -> HTML {
    let hasFile = form.fields.contains { if case .file = $0.kind { true } else { false } }
    // A file comes in no other type.
    let type: HTML = hasFile ? " enctype=\"multipart/form-data\"" : .none
    let replaced = replaced.flatMap { $0.form == form.name ? $0 : nil }
    return Forms.part(
      call(form.title), about: "<p>\(call(form.text))</p>", id: "form-\(form.name)",
      """
      <form method="post"\(type) action="\(action)">
      \(Forms.token(call))
      \(replaced, { "<input type=\"hidden\" name=\"replaces\" value=\"\($0.id)\">" })
      \(form.fields, { field($0, of: form, suggested: suggestion(for: $0, replaced)) })
      <button>\(call(form.action ?? Words.upload))</button>
      </form>
      """)
  }

  /// What a field holds before anybody has filled it in. What was chosen for the latest credential says
  /// nothing about one more.
  private func suggestion(for field: CredentialField, _ replaced: StoredCredential?) -> String? {
    if case .choice = field.kind { return replaced?.values[field.name] }
    return (replaced ?? stored.last)?.values[field.name]
  }

  private func field(_ field: CredentialField, of form: CredentialForm, suggested: String?) -> HTML {
    let isSent = call.capture("form") == form.name && call.text(field.name) != nil
    let value = isSent ? call.field(field.name) : suggested ?? ""
    let problem = problem.flatMap {
      call.capture("form") == form.name && $0.field == field.name ? call($0.phrase) : nil
    }
    // Two forms of a page may have a field of the same name.
    let (id, label, hint) = ("\(form.name)-\(field.name)", call(field.label), field.hint.map { call($0) })
    switch field.kind {
    case .text:
      return Forms.field(
        label, field.name, id: id, value: value, isRequired: field.isRequired, hint: hint, problem: problem)
    case .secret:
      return Forms.field(
        label, field.name, id: id, type: "password", isRequired: field.isRequired, hint: hint,
        problem: problem)
    case .lines:
      return Forms.lines(
        label, field.name, id: id, isRequired: field.isRequired, hint: hint, problem: problem)
    case .file(let accept):
      return Forms.file(
        label, field.name, id: id, accept: accept, isRequired: field.isRequired, hint: hint, problem: problem)
    case .choice(let choices):
      let options = choices.map { (value: $0.value, text: call($0.name)) }
      return Forms.choice(
        label, field.name, id: id, options, chosen: value, hint: hint, problem: problem)
    }
  }

  /// What was filled in.
  static func input(of form: CredentialForm, _ call: PageCall) -> CredentialInput {
    var fields: [String: [UInt8]] = [:]
    var names: [String: String] = [:]
    for field in form.fields {
      if case .file = field.kind {
        guard let file = call.file(field.name) else { continue }
        (fields[field.name], names[field.name]) = (file.bytes, file.name)
      } else if let text = call.text(field.name) {
        fields[field.name] = Array(text.utf8)
      }
    }
    return CredentialInput(form.name, fields: fields, fileNames: names, replaces: call.text("replaces"))
  }
}
