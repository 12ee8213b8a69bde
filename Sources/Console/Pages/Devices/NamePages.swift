import BorealisBase
import Core
import HTTP
import Model
import Storage

/// The tags of an app, and suggestions of tags and aliases while one is typed.
struct NamePages: Controller {
  let router: Router

  static let routes: [Route<NamePages>] = [
    Route(.app(.viewer), "GET", "/console/apps/{app}/tags") { await $0.showTags($1) },
    Route(.app(.sender), "GET", "/console/apps/{app}/names") { await $0.suggest($1) },
  ]

  /// Tags on a page, and names that are suggested.
  private static let (pageSize, suggestions) = (100, 10)

  private func suggest(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let text = call.target["q"] ?? ""
    let result =
      call.target["kind"] == "alias"
      ? await router.registrations.aliases(startingWith: text, in: app, limit: Self.suggestions)
      : await router.registrations.tags(startingWith: text, in: app, limit: Self.suggestions)
    guard case .success(let names) = result else { return call.unavailable }
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("names")
    writer.beginArray()
    for name in names {
      writer.beginObject()
      writer.member("name", name.name)
      writer.member("devices", Counted.grouped(name.count))
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return call.show(json: writer.bytes)
  }

  private func showTags(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let result = await router.registrations.tags(
      after: call.target["after"], in: app, limit: Self.pageSize)
    guard case .success(let page) = result else { return call.unavailable }
    let base = "/console/apps/\(app.key.text)"
    let more: HTML =
      page.next.map {
        "<p class=\"row\"><a class=\"button plain\" href=\"?after=\(AddressText.encode($0))\" rel=\"next\">\(call(Words.more))</a></p>"
      } ?? .none
    return call.show(
      Layout(
        call(Words.tags), tab: .devices,
        """
        <p class="quiet"><a href="\(base)/devices">\(call(Words.devices))</a></p>
        <h1>\(call(Words.tags))</h1>
        <section class="card">\(table(call, base, page.tags))\(more)</section>
        """))
  }

  private func table(_ call: PageCall, _ base: String, _ tags: [NameInUse]) -> HTML {
    guard !tags.isEmpty else { return "<p class=\"quiet\">\(call(Words.noTagsYet))</p>" }
    return """
      <table><thead><tr><th>\(call(Words.tag))</th><th class="number">\(call(Words.devices))</th></tr></thead><tbody>
      \(tags, { row(call, base, $0) })
      </tbody></table>
      """
  }

  private func row(_ call: PageCall, _ base: String, _ tag: NameInUse) -> HTML {
    """
    <tr><td><a href="\(base)/devices?q=\(AddressText.encode(tag.name))">\(tag.name)</a></td>
    <td class="number">\(Counted.grouped(tag.count))</td></tr>

    """
  }
}
