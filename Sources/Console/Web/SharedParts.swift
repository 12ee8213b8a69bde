import BorealisBase
import Storage

/// Parts that pages of several features have.
extension PageCall {
  /// What copies a text; the script shows it.
  func copyButton(_ text: String) -> HTML {
    """
    <button type="button" class="small" hidden data-copy="\(text)" data-done="\(self(Words.copied))"
      data-manual="\(self(Words.pressCopy))">\(self(Words.copy))</button>
    """
  }
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
