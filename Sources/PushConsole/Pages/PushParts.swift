import PushBase
import PushDomain
import PushJSON
import PushRouter
import PushStorage

/// How many devices a push would reach, and of which kind.
struct AudienceSize: Sendable, Equatable {
  let total, ios, online: Int

  init(_ request: AcceptRequest, in app: App) {
    let audience = app.directory.resolve(request.terms, platforms: request.platforms)
    let apple = request.platforms.intersection(PlatformSet(.ios))
    total = audience.count
    ios = app.directory.resolve(request.terms, platforms: apple).count
    online = app.directory.onlineCount(in: audience)
  }

  var isEmpty: Bool { total == 0 }

  var phrase: Phrase {
    Words.audienceSize.with(String(total), String(ios), String(total - ios), String(online))
  }
}

/// What a push says, in short.
struct PushExcerpt: Sendable, Equatable {
  let title, text: String
  /// What a device gets over our connection, for developers.
  let json: String

  init(_ content: [UInt8]) {
    let decoded = PushContent(decoding: content)
    let platform = Platform.allCases.first { decoded?.variant(for: $0) != nil } ?? .android
    let bytes = decoded?.deviceJSON(platform: platform) ?? []
    let value = try? parseJSON(bytes)
    let notification = value?["notification"]
    let alert = notification?["alert"]
    json = String(decoding: bytes, as: UTF8.self)
    title =
      notification?["title"]?.string ?? alert?["title"]?.string ?? value?["message"]?["title"]?.string ?? ""
    text = alert?.string ?? alert?["body"]?.string ?? value?["message"]?["msg_content"]?.string ?? ""
  }

  /// One line for lists.
  func line(_ call: PageCall) -> String {
    let line = [title, text].filter { !$0.isEmpty }.joined(separator: " · ")
    return line.isEmpty ? call(Words.silent) : String(line.prefix(80))
  }
}

/// The same push from an app server.
struct PushSamples: Sendable, Equatable {
  let curl, python: String

  init(address: String, key: String, body: String) {
    let quoted = body.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
    curl = "curl -u \(key):$MASTER_SECRET \(address)/v3/push -d '\(quoted)'"
    let literal = String(decoding: JSONWriter.serialize(.string(body)), as: UTF8.self)
    let request =
      "requests.post(\"\(address)/v3/push\", auth=(\"\(key)\", os.environ[\"MASTER_SECRET\"]), json=push)"
    python = "import json, os, requests\npush = json.loads(\(literal))\nprint(\(request).json())"
  }
}

extension OutcomeStatus {
  var phrase: Phrase {
    switch self {
    case .open: Words.stateOpen
    case .delivered: Words.stateDelivered
    case .expired: Words.stateExpired
    case .recalled: Words.stateRecalled
    case .overridden: Words.stateOverridden
    default: Words.stateFailed
    }
  }
}

/// What became of a push, for people.
enum Trace {
  static func isOpen(_ report: PushReport) -> Bool { !report.targets.pending.isEmpty }

  static func html(_ call: PageCall, _ report: PushReport) -> HTML {
    let targets = report.targets
    let steps: [(Phrase, Int)] = [
      (Words.targets, targets.all.count), (Words.delivered, targets.delivered.count),
      (Words.shown, targets.shown.count), (Words.tapped, targets.tapped.count),
      (Words.pending, targets.pending.count),
    ]
    let ends: [(Phrase, Int)] = [
      (Words.stateExpired, targets.expired.count), (Words.stateRecalled, targets.recalled.count),
    ]
    let reasons = targets.failed.mapValues(\.count).sorted { $0.key < $1.key }
    return """
      <h2>\(call(Words.result))</h2>
      <ol class="funnel">\(steps, { bar(call($0.0), $0.1, of: targets.all.count) })</ol>
      <ul class="plain">
      <li>\(call(Words.byOwn)): \(targets.acknowledged.count) / \(targets.own.count)</li>
      <li>\(call(Words.byApple)): \(targets.accepted.count) / \(targets.meantForApple.count)</li>
      \(ends.filter { $0.1 > 0 }, { "<li>\(call($0.0)): \($0.1)</li>" })
      \(reasons, { "<li class=\"bad\">\(call(Words.failed)): \($0.key): \($0.value)</li>" })
      </ul>
      """
  }

  private static func bar(_ name: String, _ count: Int, of total: Int) -> HTML {
    """
    <li><span>\(name)</span><progress max="\(max(total, 1))" value="\(count)">\(count)</progress><strong>\(count)</strong></li>

    """
  }
}
