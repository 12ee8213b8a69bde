import HTTP
import Testing

@testable import Console

/// A form of a page that changes something.
struct SentForm {
  /// Where it is sent to; empty for the address of its page.
  var action: String
  /// Whether it is in a box that is opened first (`Forms.sure`).
  let isAskedFor: Bool
  /// Whether somebody types or chooses something in it; a form of buttons only acts at one click.
  var isFilledIn = false
  /// What it sends besides what every form sends.
  var fields: [String] = []

  /// All forms of a page that are posted.
  static func all(in text: String) -> [SentForm] {
    var forms: [SentForm] = []
    var boxes: [Bool] = []
    var isInside = false
    for piece in text.split(separator: "<").dropFirst() {
      let tag = piece.prefix { $0 != ">" }
      let name = tag.prefix { !$0.isWhitespace }
      switch name {
      case "details": boxes.append(value("class", of: tag)?.split(separator: " ").contains("sure") == true)
      case "/details": _ = boxes.popLast()
      case "form":
        isInside = value("method", of: tag) == "post"
        guard isInside else { continue }
        forms.append(SentForm(action: value("action", of: tag) ?? "", isAskedFor: boxes.contains(true)))
      case "/form": isInside = false
      case "input", "select", "textarea", "button":
        guard isInside else { continue }
        forms[forms.count - 1].read(name, tag)
      default: continue
      }
    }
    return forms
  }

  private mutating func read(_ name: Substring, _ tag: Substring) {
    let isHidden = name == "input" && Self.value("type", of: tag) == "hidden"
    if name != "button", !isHidden { isFilledIn = true }
    let field = Self.value("name", of: tag) ?? ""
    guard isHidden || name == "button", !["", "form_token", "once"].contains(field) else { return }
    fields.append("\(field)=\(Self.value("value", of: tag) ?? "")")
  }

  private static func value(_ attribute: String, of tag: Substring) -> String? {
    tag.firstRange(of: " \(attribute)=\"").map { String(tag[$0.upperBound...].prefix { $0 != "\"" }) }
  }

  // MARK: The rule

  /// Forms that act at one click, and why none of them has to ask first: they take nothing away. Behind the
  /// question mark is a field that the form must have.
  private static let atOnce: [String: String] = [
    "/console/logout": "one logs in again",
    "/console/me/language": "one changes it back",
    "/console/me/totp/new": "shows a secret",
    "/console/invitations/{token}": "joins an account",
    "/console/apps/{app}/push": "is the question before a push is sent",
    "/console/apps/{app}/waiting/{held_id}/stop?undo=on": "nobody has got the push, and one sends it again",
    "/console/apps/{app}/settings/rotate": "the old secret stays",
    "/console/apps/{app}/settings/getui": "there was none before",
    "/console/apps/{app}/settings/seal?seal=on": "what is stored stays readable",
    "/console/apps/{app}/settings/callbacks/secret": "the old secret stays",
    "/console/apps/{app}/settings/callbacks/test": "sends a test",
    "/console/apps/{app}/settings/callbacks/{id}/resend": "sends once more",
    "/console/apps/{app}/settings/credentials/{channel}/{id}/check": "asks the service",
    "/console/apps/{app}/settings/credentials/{channel}/{id}/pause": "pushes wait until it is resumed",
    "/console/apps/{app}/settings/credentials/{channel}/{id}/resume": "one pauses it again",
    "/console/operator/accounts/{id}/on": "one turns it off again",
    "/console/operator/invitations/{id}/mail": "the person gets a new link in place of the old one",
    "/console/accounts/{account}/people/invitations/{id}/mail":
      "the person gets a new link in place of the old one",
  ]

  /// Fails for a form of the page that acts at once although it is not known to take nothing away.
  static func check(_ response: HTTPResponse, of world: ConsoleWorld, at target: String) {
    guard response.headers["content-type"]?.hasPrefix("text/html") == true else { return }
    for form in all(in: String(decoding: response.body, as: UTF8.self)) where !form.isAskedFor {
      guard !form.isFilledIn else { continue }
      let action = form.action.isEmpty ? target : form.action
      let route = world.console.route("POST", action) ?? "unknown \(action)"
      let isKnown = atOnce.keys.contains { known in
        let parts = known.split(separator: "?", maxSplits: 1)
        // A field that makes another thing of it has to be named.
        let rest = form.fields.filter { !$0.hasPrefix("back=") && !$0.hasPrefix("language=") }
        let isPush = route == "/console/apps/{app}/push"
        return parts[0] == route && (isPush || rest == parts.dropFirst().map { String($0) })
      }
      #expect(isKnown, "\(target): the form to \(route) with \(form.fields) acts at once; see Forms.sure")
    }
  }
}
