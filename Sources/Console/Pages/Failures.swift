import BorealisBase
import HTTP
import Storage

/// Pages that say why there is no page.
enum Failures {
  static func notFound(_ call: PageCall) -> Layout {
    page(call, Words.notFoundTitle, Words.notFound)
  }

  static func forbidden(_ call: PageCall, _ role: Role) -> Layout {
    page(call, Words.forbiddenTitle, Words.forbidden.with(call(role.name)))
  }

  static func unavailable(_ call: PageCall) -> Layout {
    page(call, Words.unavailableTitle, Words.unavailable)
  }

  /// The form was not ours, or of a session that ended.
  static func foreignForm(_ call: PageCall) -> Layout {
    page(call, Words.foreignFormTitle, Words.foreignForm)
  }

  static func tooLarge(_ call: PageCall) -> Layout {
    page(call, Words.tooLargeTitle, Words.tooLarge)
  }

  /// The form is damaged, or has more fields than the page has.
  static func unreadable(_ call: PageCall) -> Layout {
    page(call, Words.unreadableTitle, Words.unreadable)
  }

  /// The address has an escape that is not valid.
  static func badAddress(_ call: PageCall) -> Layout {
    page(call, Words.unreadableTitle, Words.badPageAddress)
  }

  /// An invitation that was used or withdrawn, or has expired.
  static func endedInvitation(_ call: PageCall) -> Layout {
    page(call, Words.endedInvitationTitle, Words.endedInvitation)
  }

  /// A setup link after the first user was created.
  static func endedLink(_ call: PageCall) -> Layout {
    page(call, Words.endedLinkTitle, Words.endedLink)
  }

  /// The account that a page belongs to is turned off.
  static func suspended(_ call: PageCall, _ account: String, _ operators: [PersonRow]) -> Layout {
    Layout(call(Words.suspendedTitle), suspension(call, account, operators))
  }

  /// A message about a suspended account, and whom to contact.
  static func suspension(_ call: PageCall, _ account: String, _ operators: [PersonRow]) -> HTML {
    """
    <section class="card"><h2>\(call(Words.suspendedTitle))</h2><p>\(call(Words.suspendedText.with(account)))</p>
    <ul class="plain">\(operators, { contact($0) })</ul></section>
    """
  }

  private static func contact(_ person: PersonRow) -> HTML {
    """
    <li>\(person.name) · <a href="mailto:\(person.email)">\(addressText(person.email))</a></li>

    """
  }

  /// The answer to an incomplete request. Its language is unknown, so the text is in both.
  static func refused(_ fault: HTTPFault) -> HTTPResponse {
    let (title, text) =
      switch fault {
      case .bodyTooLarge: (Words.tooLargeTitle, Words.tooLarge)
      case .timeout, .busy, .unserved: (Words.unavailableTitle, Words.unavailable)
      case .unanswered: (Words.unansweredTitle, Words.unanswered)
      default: (Words.unreadableTitle, Words.unreadable)
      }
    let page: HTML = """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>\(title.english) · Borealis</title>
      <link rel="stylesheet" href="\(Assets.path("console.css"))">
      </head>
      <body><main><section class="card narrow"><h1>\(title.english)</h1><p>\(text.english)</p>
      <div lang="zh-CN"><h2>\(title.chinese)</h2><p>\(text.chinese)</p></div>
      <p><a class="button" href="/console/">Borealis</a></p></section></main></body>
      </html>

      """
    return PageCall.safe(
      HTTPResponse(
        status: fault.status, headers: ["Content-Type": "text/html; charset=utf-8"],
        body: Array(page.text.utf8)))
  }

  private static func page(_ call: PageCall, _ title: Phrase, _ text: Phrase) -> Layout {
    Layout(
      call(title),
      """
      <section class="card narrow"><h1>\(call(title))</h1><p>\(call(text))</p>
      <p><a class="button" href="/console/">\(call(Words.toApps))</a></p></section>
      """)
  }
}

extension PageCall {
  /// The answer to a change of something that may not be there: that of `done` if it was changed.
  func answer(
    _ result: Result<Bool, StorageError>, done: () async -> HTTPResponse
  ) async -> HTTPResponse {
    switch result {
    case .failure: unavailable
    case .success(false): missing
    case .success(true): await done()
    }
  }
}

extension Role {
  var name: Phrase {
    switch self {
    case .viewer: Words.viewer
    case .sender: Words.sender
    case .admin: Words.admin
    case .owner: Words.owner
    }
  }

  init?(word: String) {
    guard let role = Self.allCases.first(where: { $0.word == word }) else { return nil }
    self = role
  }
}
