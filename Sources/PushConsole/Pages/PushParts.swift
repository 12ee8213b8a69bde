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
    let numbers = [total, ios, total - ios, online].map { Counted.grouped($0) }
    return Words.audienceSize.with(numbers[0], numbers[1], numbers[2], numbers[3])
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
