import BorealisBase

/// A request as examples show it: one description, from which each language's example is made. Address and
/// secrets are read from the environment, so that no secret gets into a program's source.
struct RequestExample: Sendable, Equatable {
  /// What the request proves itself with.
  enum Login: Sendable, Equatable {
    case none
    /// HTTP Basic; the names of variables, and what stands before the user name.
    case basic(user: String, secret: String, prefix: String)
    /// A header with the value of a variable.
    case header(String, variable: String)
  }

  /// The variables, as a shell sets them; what only the reader knows is left out.
  func settings(address: String, key: String? = nil) -> String {
    variables.map { name in
      let value = name == Self.base ? address : name == Self.appKey ? key : nil
      return "export \(name)=\(value ?? "…")"
    }.joined(separator: "\n")
  }

  private static let appKey = "APP_KEY"

  /// The variable with the address of the server.
  static let base = "BOREALIS_URL"

  let method: String
  /// Percent-encoded, with its query.
  let target: String
  let login: Login
  /// The text of the body; nil without one.
  let json: String?

  /// The variables that it reads.
  var variables: [String] {
    switch login {
    case .none: [Self.base]
    case .basic(let user, let secret, _): [Self.base, user, secret]
    case .header(_, let variable): [Self.base, variable]
    }
  }
}

extension RequestExample.Login {
  /// The key of an app, and its master secret or the secret of an API key.
  static let app = RequestExample.Login.basic(user: "APP_KEY", secret: "MASTER_SECRET", prefix: "")
}

extension RequestExample {
  /// An example of a call with the sample values of its parameters; nil if its body is not JSON.
  init?(_ operation: APIOperation) {
    if let body = operation.body {
      guard body.type == "application/json", let example = body.example else { return nil }
      json = example.indented
    } else {
      json = nil
    }
    method = operation.method
    let path = operation.path.split(separator: "/").map { segment -> String in
      guard segment.hasPrefix("{"), segment.hasSuffix("}") else { return String(segment) }
      let name = segment.dropFirst().dropLast()
      let parameter = operation.parameters.first { $0.name == name && $0.place == "path" }
      return AddressText.encode(parameter.map(Self.sample) ?? String(name))
    }
    let query = operation.parameters.filter { $0.place == "query" && $0.isRequired }.map {
      (name: $0.name, value: Self.sample($0))
    }
    target = "/" + path.joined(separator: "/") + AddressText.query(query)
    login = Self.login(operation.logins.first?.scheme)
  }

  private static func login(_ scheme: String?) -> Login {
    switch scheme {
    case "app": .app
    case "group": .basic(user: "GROUP_KEY", secret: "GROUP_SECRET", prefix: "group-")
    case "developer": .basic(user: "DEV_KEY", secret: "DEV_SECRET", prefix: "")
    case "getui": .header("token", variable: "TOKEN")
    default: .none
    }
  }

  /// A value for a parameter: its example, the first that it may have, or what is usual for its name.
  private static func sample(_ parameter: APIOperation.Parameter) -> String {
    if let example = parameter.example { return example }
    let schema = APIReference.resolve(parameter.schema).value
    let first = schema["enum"]?.array?.first ?? schema["default"]
    if let text = first?.string ?? first?.int64.map({ String($0) }) { return text }
    return samples[parameter.name] ?? "1"
  }

  private static let samples = [
    "rid": "13bde2f39c72bf17364", "registration_id": "13bde2f39c72bf17364", "cid": "13bde2f39c72bf17364",
    "alias": "demo", "tag": "news", "key": "0123456789abcdef", "app_key": "80a97b8d34241c291f36c513",
    "appId": "80a97b8d34241c291f36c513", "msg_id": "373491029635072", "msg_ids": "373491029635072",
    "media_id": "jgmedia-1-2c0a", "start": "2026-11-30", "from": "2026-11-30", "to": "2026-11-30",
    "date": "2026-11-30", "duration": "1", "token": "3f0c9a", "taskid": "RASS_373491029635072",
    "group_name": "spring", "channel": "web-push", "type": "ios",
    "code": "80a97b8d34241c291f36c513-c0de", "file_id": "80a97b8d34241c291f36c513-5f2d3c1b",
  ]
}

extension JSONValue {
  /// The value as JSON with a line for each member and element, indented by two blanks.
  var indented: String { indented("") }

  private func indented(_ margin: String) -> String {
    let inner = margin + "  "
    switch self {
    case .object(let object) where !object.isEmpty:
      let lines = object.members.map {
        "\(inner)\(JSONValue.string($0.key).line): \($0.value.indented(inner))"
      }
      return "{\n\(lines.joined(separator: ",\n"))\n\(margin)}"
    // Short lists of plain values stay on a line.
    case .array(let elements) where elements.contains { $0.object != nil || $0.array != nil }:
      let lines = elements.map { inner + $0.indented(inner) }
      return "[\n\(lines.joined(separator: ",\n"))\n\(margin)]"
    case .array(let elements): return "[\(elements.map(\.line).joined(separator: ", "))]"
    default: return line
    }
  }

  /// A string as it is, and any other value as JSON.
  var plain: String { string ?? line }

  private var line: String { String(decoding: JSONWriter.serialize(self), as: UTF8.self) }
}
