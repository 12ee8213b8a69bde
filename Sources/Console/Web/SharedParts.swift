import BorealisBase
import Storage

/// Parts that pages of several features have.
extension PageCall {
  /// A state: a dot in one of a few colors, and the word for it.
  func state(_ mark: StateMark, _ word: Phrase) -> HTML { mark.html(self(word)) }

  /// The ways to the newest entries of a list and to older ones, by their addresses; nil for those that are
  /// shown already, or that there are not.
  func paging(newest: String?, older: String?) -> HTML {
    guard newest != nil || older != nil else { return .none }
    let first: HTML =
      newest.map { "<a class=\"button plain\" href=\"\($0)\">\(self(Words.newest))</a>" } ?? .none
    let next: HTML =
      older.map { "<a class=\"button plain\" href=\"\($0)\" rel=\"next\">\(self(Words.older))</a>" } ?? .none
    return "<p class=\"row\">\(first)\(next)</p>"
  }

  /// A link to a page of the documentation, by its address behind `/docs`; nothing if the server does not
  /// show it.
  func docsLink(_ title: Phrase, _ page: String, anchor: String? = nil) -> HTML {
    guard hasDocs else { return .none }
    let path = page.isEmpty ? "/docs" : "/docs/\(page)"
    let address = DocsLinks(language: language).address(path, anchor: anchor)
    return "<a href=\"\(address)\">\(self(title))</a>"
  }

  /// What copies a text; the script shows it.
  func copyButton(_ text: String) -> HTML {
    """
    <button type="button" class="small" hidden data-copy="\(text)" data-done="\(self(Words.copied))"
      data-manual="\(self(Words.pressCopy))">\(self(Words.copy))</button>
    """
  }
}

/// The color of a state, the same on every page.
enum StateMark: String, Sendable {
  /// It works, or is done.
  case done
  /// It is under way.
  case open
  /// A channel's service has it; whether it arrived is not known.
  case accepted
  /// Somebody has to look.
  case warn
  /// It failed, or does not work.
  case failed
  /// It is over, off, or not set up.
  case over

  func html(_ text: String) -> HTML { "<span class=\"state \(rawValue)\">\(text)</span>" }
}

extension AppKey {
  /// Enough of an app's key to distinguish it from others of the same name.
  var mark: HTML { "<code class=\"quiet\">\(String(text.prefix(8)))</code>" }
}

extension Layout {
  /// The one page that ever shows a secret.
  static func keys(_ call: PageCall, name: String, key: AppKey, secret: String) -> Layout {
    Layout(
      call(Words.keysTitle),
      """
      <section class="card narrow">
      <h1>\(name)</h1>
      <p>\(call(Words.keysText))</p>
      <dl class="keys">
      <dt>\(call(Words.appKey))</dt><dd><code>\(key.text)</code> \(call.copyButton(key.text))</dd>
      <dt>\(call(Words.masterSecret))</dt><dd><code>\(secret)</code> \(call.copyButton(secret))</dd>
      </dl>
      <p><a class="button" href="/console/apps/\(key.text)">\(call(Words.toApp))</a>
      <a class="button plain" href="/console/apps/\(key.text)/virtual">\(call(Words.tryWithVirtualDevice))</a></p>
      </section>
      """)
  }
}
