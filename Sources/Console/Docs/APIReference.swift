import API
import BorealisBase

/// The calls of the HTTP APIs, as their description in OpenAPI's form (version 3.1) has them.
enum APIReference {
  static let path = "/docs/api/reference"

  /// Calls that belong together.
  struct Group: Sendable {
    let name: String
    let description: String
    var operations: [APIOperation] = []
  }

  private static let document = (try? parseJSON(APIDescription.bytes)) ?? [:]

  /// The calls by group, in the order of the description.
  static let groups: [Group] = {
    var groups = (document["tags"]?.array ?? []).map {
      Group(name: $0["name"]?.string ?? "", description: $0["description"]?.string ?? "")
    }
    for member in document["paths"]?.object?.members ?? [] {
      for (method, operation) in methods(of: member.value) {
        let new = APIOperation(method, member.key, operation, all: member.value["parameters"]?.array ?? [])
        guard let place = groups.firstIndex(where: { $0.name == new.group }) else { continue }
        groups[place].operations.append(new)
      }
    }
    return groups.filter { !$0.operations.isEmpty }
  }()

  private static func methods(of path: JSONValue) -> [(String, JSONValue)] {
    (path.object?.members ?? []).filter { $0.key != "parameters" }.map { ($0.key.uppercased(), $0.value) }
  }

  /// The calls by their IDs.
  static let operations = Dictionary(
    groups.flatMap(\.operations).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })

  /// A value, or what a reference (`$ref`) stands for, with the name of that.
  static func resolve(_ value: JSONValue) -> (name: String?, value: JSONValue) {
    guard let reference = value["$ref"]?.string, reference.hasPrefix("#/") else { return (nil, value) }
    let parts = reference.dropFirst(2).split(separator: "/").map(String.init)
    return (parts.last, parts.reduce(document) { $0[$1] ?? [:] })
  }

  /// What a kind of login is.
  static func login(_ scheme: String) -> String {
    document["components"]?["securitySchemes"]?[scheme]?["description"]?.string ?? ""
  }

  /// The calls for the search.
  static var sections: [DocsIndex.Section] {
    groups.flatMap(\.operations).map { operation in
      let names = operation.parameters.map(\.name) + (operation.body?.fields ?? [])
      let text = ([operation.description] + names).joined(separator: " ")
      return DocsIndex.Section(
        path: operation.page, anchor: nil, page: Phrase(operation.title, operation.title), heading: nil,
        remark: Phrase(operation.summary, operation.summary),
        text: Array("\(operation.summary). \(text)".utf8), isHistory: false)
    }
  }
}

/// One call.
struct APIOperation: Sendable {
  struct Parameter: Sendable {
    let name: String
    /// `path`, `query` or `header`.
    let place: String
    let isRequired: Bool
    let description: String
    let schema: JSONValue
    let example: String?
  }

  struct Body: Sendable {
    let type: String
    let schema: JSONValue
    let example: JSONValue?

    /// The names of its fields.
    var fields: [String] {
      APIReference.resolve(schema).value["properties"]?.object?.members.map(\.key) ?? []
    }
  }

  struct Answer: Sendable {
    let status: String
    let description: String
    let body: Body?
  }

  /// A kind of login, and the right that an API key needs.
  struct Login: Sendable {
    let scheme: String
    let right: String?
  }

  let id, method, path, group, summary, description: String
  /// Any of these; none if everybody may call it.
  let logins: [Login]
  let parameters: [Parameter]
  let body: Body?
  let answers: [Answer]

  var title: String { "\(method) \(path)" }
  /// The address of its page.
  var page: String { "\(APIReference.path)/\(id)" }

  /// Reads a call; `all` are the parameters of all methods of the path.
  fileprivate init(_ method: String, _ path: String, _ value: JSONValue, all: [JSONValue]) {
    func text(_ key: String) -> String { value[key]?.string ?? "" }
    (self.method, self.path, id) = (method, path, text("operationId"))
    group = value["tags"]?.array?.first?.string ?? ""
    (summary, description) = (text("summary"), text("description"))
    logins = (value["security"]?.array ?? []).compactMap { $0.object?.members.first }.map {
      Login(scheme: $0.key, right: $0.value.array?.first?.string)
    }
    parameters = (all + (value["parameters"]?.array ?? [])).map { Parameter($0) }
    body = value["requestBody"].flatMap { Body(APIReference.resolve($0).value) }
    answers = (value["responses"]?.object?.members ?? []).map { member in
      let answer = APIReference.resolve(member.value).value
      return Answer(
        status: member.key, description: answer["description"]?.string ?? "", body: Body(answer))
    }
  }
}

extension APIOperation.Parameter {
  fileprivate init(_ value: JSONValue) {
    let value = APIReference.resolve(value).value
    name = value["name"]?.string ?? ""
    place = value["in"]?.string ?? ""
    isRequired = value["required"]?.bool ?? false
    description = value["description"]?.string ?? ""
    schema = value["schema"] ?? [:]
    example = value["example"]?.plain
  }
}

extension APIOperation.Body {
  /// The first of the types of a request's or an answer's content; nil without any.
  fileprivate init?(_ value: JSONValue) {
    guard let content = value["content"]?.object?.members.first else { return nil }
    type = content.key
    schema = content.value["schema"] ?? [:]
    example = content.value["example"]
  }
}
