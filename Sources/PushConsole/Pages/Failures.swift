import PushStorage

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
  /// Answers a change of something that may not be there: `done` does, if it was changed.
  func answer(_ result: Result<Bool, StorageError>, done: () -> Void) {
    switch result {
    case .failure: show(Failures.unavailable(self), status: 503)
    case .success(false): show(Failures.notFound(self), status: 404)
    case .success(true): done()
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

  /// The word in forms.
  var word: String {
    switch self {
    case .viewer: "viewer"
    case .sender: "sender"
    case .admin: "admin"
    case .owner: "owner"
    }
  }

  init?(word: String) {
    guard let role = Self.allCases.first(where: { $0.word == word }) else { return nil }
    self = role
  }
}
