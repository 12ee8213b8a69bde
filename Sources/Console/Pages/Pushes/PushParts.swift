import BorealisBase
import Core
import Model
import Storage

/// How many devices a push would reach, and of which kind.
struct AudienceSize: Sendable, Equatable {
  let total: Int
  /// How many devices run iOS, and how many are connected; nil if they were only counted.
  let ios, online: Int?

  /// So many that nothing else is known of.
  init(total: Int) { (self.total, ios, online) = (total, nil, nil) }

  init(_ audience: Recipients, in app: App) {
    let phones = app.directory.resolve(.all, platforms: PlatformSet(.ios))?.numbers ?? NumberSet()
    (total, ios) = (audience.count, audience.intersection(phones).count)
    online = app.directory.onlineCount(in: audience)
  }

  /// That of a push if it is sent now; why nobody can say otherwise.
  static func find(
    _ push: PushRequest, in app: App, _ router: Router
  ) async -> Result<AudienceSize, APIError> {
    let result = await awaitCallback {
      router.acceptance.targets(of: AcceptRequest(push), in: app, found: $0)
    }
    return result.map { AudienceSize($0, in: app) }
  }

  /// Who would get a push now, or why nobody can say; nil for one to a file: no page reads one, which may
  /// name a million devices.
  static func phrase(of push: PushRequest, in app: App, _ router: Router) async -> Phrase? {
    guard push.audience.file == nil else { return nil }
    switch await find(push, in: app, router) {
    case .success(let size): return size.phrase
    case .failure(let error): return PushWords.phrase(error)
    }
  }

  var isEmpty: Bool { total == 0 }

  var phrase: Phrase? {
    guard let ios, let online else { return nil }
    let numbers = [total, ios, total - ios, online].map { Counted.grouped($0) }
    return Words.audienceSize.with(numbers[0], numbers[1], numbers[2], numbers[3])
  }
}

/// What a push says, in short.
struct PushExcerpt: Sendable, Equatable {
  let title, text: String
  /// What a device gets over the direct connection, for developers.
  let json: String
  /// Whether some of it can be read by the devices only.
  let isEncrypted: Bool

  init(_ content: [UInt8]) {
    let decoded = PushContent(decoding: content)
    let platform = Platform.allCases.first { decoded?.variant(for: $0) != nil } ?? .android
    let bytes = decoded?.deviceJSON(platform: platform) ?? []
    let value = try? parseJSON(bytes)
    let notification = value?["notification"]
    let alert = notification?["alert"]
    json = String(decoding: bytes, as: UTF8.self)
    isEncrypted = notification?["encrypted"]?.object != nil || value?["message"]?["encrypted"]?.object != nil
    title =
      notification?["title"]?.string ?? alert?["title"]?.string ?? value?["message"]?["title"]?.string ?? ""
    text = alert?.string ?? alert?["body"]?.string ?? value?["message"]?["msg_content"]?.string ?? ""
  }

  /// One line for lists.
  func line(_ call: PageCall) -> String {
    let line = [title, text, isEncrypted ? call(Words.encrypted) : ""].filter { !$0.isEmpty }.joined(
      separator: " · ")
    guard line.count > 80 else { return line.isEmpty ? call(Words.silent) : line }
    return "\(line.prefix(79))…"
  }
}

/// The same push from an app server.
struct PushSamples: Sendable, Equatable {
  /// In one line, with all but the secret.
  let curl: String
  /// What the examples in other languages read.
  let settings: String
  let request: RequestExample

  init(address: String, key: String, body: String) {
    curl = "curl -u \(key):$MASTER_SECRET \(address)/v3/push -d \(ExampleLanguage.curl.literal(body))"
    let json = (try? parseJSON(Array(body.utf8)))?.indented ?? body
    request = RequestExample(method: "POST", target: "/v3/push", login: .app, json: json)
    settings = request.settings(address: address, key: key)
  }
}

extension PushSamples {
  /// The same push for an app server, collapsed by default.
  func details(_ call: PageCall) -> HTML {
    """
    <section class="card"><h2>\(call(Words.asCode))</h2>
    \(sample(call, "curl", curl))
    \(ExampleLanguage.allCases.dropFirst(), { sample(call, $0.name, "\($0.text(request))") })
    <p class="quiet">\(call(Words.apiExamplesText))</p><pre><code>\(settings)</code></pre>
    </section>
    """
  }

  private func sample(_ call: PageCall, _ name: String, _ text: String) -> HTML {
    """
    <details><summary>\(name)</summary><p>\(call.copyButton(text))</p><pre><code>\(text)</code></pre></details>

    """
  }
}
