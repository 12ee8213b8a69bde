import BorealisBase
import Core
import HTTP
import Storage

/// The footer of every page: the time zone. A virtual device uses the browser's.
extension Layout {
  func foot(_ call: PageCall) -> HTML {
    """
    <footer class="foot">\(if: tab != .virtual, "\(call(Words.clock.with(ZoneText.name(call.zone, at: call.now))))")</footer>
    """
  }
}

extension Language {
  /// What it calls itself.
  var name: String { self == .chinese ? "中文" : "English" }
}

/// The language of the reader.
struct LanguagePages: Controller {
  let profiles: Profiles

  static let routes: [Route<LanguagePages>] = [
    Route(.person, "POST", "/console/me/language") { await $0.changeLanguage($1) }
  ]

  private func changeLanguage(_ call: PageCall) async -> HTTPResponse {
    guard let visitor = call.visitor, let language = Language(rawValue: call.field("language")) else {
      return call.missing
    }
    let back = call.field("back")
    let place = SiteMap.ownPlace(back) ?? "/console/"
    let result = await profiles.setProfile(
      of: visitor.person.id, name: visitor.person.name, language: language.rawValue)
    guard case .success = result else { return call.unavailable }
    return call.redirect(to: place)
  }
}
