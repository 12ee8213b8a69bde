import BorealisBase
import Channels
import Model
import Testing

@testable import API
@testable import Core

/// The document that the server hands out against what it serves; Getui's API is held against its own routes.
struct OpenAPITests {
  private let document: JSONValue

  init() throws { document = try parseJSON(Array(embeddedDocument.utf8)) }

  private struct Operation {
    let path: String
    let method: String
    let value: JSONValue

    var name: String { "\(method) \(path)" }
  }

  private var operations: [Operation] {
    var found: [Operation] = []
    for path in document["paths"]?.object?.members ?? [] where !path.key.hasPrefix("/v2/") {
      for method in path.value.object?.members ?? [] {
        found.append(Operation(path: path.key, method: method.key.uppercased(), value: method.value))
      }
    }
    return found
  }

  @Test func `It names the routes of the gateway and no others`() {
    let described = operations.map(\.name).sorted()
    let served = Gateway.routes.map { "\($0.method) \($0.pattern)" }.sorted()
    #expect(described == served)
  }

  @Test func `It says which routes need no app`() {
    for operation in operations {
      let route = Gateway.routes.first { $0.method == operation.method && $0.pattern == operation.path }
      let isOpen = operation.value["security"]?.array?.isEmpty == true
      #expect((route?.api == .open) == isOpen, "\(operation.name)")
    }
  }

  @Test func `It says who may call`() {
    for operation in operations {
      let route = Gateway.routes.first { $0.method == operation.method && $0.pattern == operation.path }
      let schemes = (operation.value["security"]?.array ?? [["app": []]])
        .flatMap { $0.object?.members.map(\.key) ?? [] }
      let expected: [String] =
        switch (route?.api, route?.callers) {
        case (.open, _): []
        case (.admin, _): ["developer"]
        case (_, .group): ["group"]
        case (_, .both): ["app", "group"]
        default: ["app"]
        }
      #expect(schemes == expected, "\(operation.name)")
    }
  }

  @Test func `It says which right an API key needs`() {
    for operation in operations {
      let route = Gateway.routes.first { $0.method == operation.method && $0.pattern == operation.path }
      guard let route, let right = route.right, route.callers != .group else { continue }
      let rights = operation.value["security"]?.array?.compactMap { $0["app"]?.array }.first
      #expect(rights == [.string(right.rawValue)], "\(operation.name)")
    }
  }

  @Test func `It says how calls are refused`() {
    for operation in operations where operation.value["security"]?.array?.isEmpty != true {
      let route = Gateway.routes.first { $0.method == operation.method && $0.pattern == operation.path }
      var expected: Set<String> = ["401", "429"]
      if route?.api != .admin { expected.insert("403") }
      if operation.value["requestBody"] != nil { expected.formUnion(["400", "413", "415"]) }
      let described = Set(operation.value["responses"]?.object?.members.map(\.key) ?? [])
      #expect(expected.isSubset(of: described), "\(operation.name)")
    }
  }

  @Test func `Every capture of a path is a parameter`() {
    for operation in operations {
      let captures = operation.path.split(separator: "/").filter { $0.hasPrefix("{") }
        .map { String($0.dropFirst().dropLast()) }
      let parameters = (operation.value["parameters"]?.array ?? []).compactMap { resolve($0) }
        .filter { $0["in"] == "path" }.compactMap { $0["name"]?.string }
      #expect(Set(parameters) == Set(captures), "\(operation.name)")
    }
  }

  @Test func `Every reference leads somewhere`() {
    let references = Self.references(in: document)
    #expect(!references.isEmpty)
    for reference in references { #expect(find(reference) != nil, "\(reference)") }
  }

  @Test func `It describes all that an answer to validate can have`() throws {
    let quota = ChannelQuota(total: 50_000, used: 12, knownAt: Timestamp(milliseconds: 1_800_000_000_000))
    let full = ChannelPreview(
      .marketing, words: ["channel_id 111"], cuts: [.init(field: "alert", characters: 127)],
      refusal: "MessageTooBig", notes: [.init(Phrase("no template", "没有模板"), source: "a page")])
    let answer = try answer(PushPreview(channel: .xiaomi, preview: full, quota: quota))
    #expect(Self.members(of: answer) == members(ofSchema: ["$ref": .string(Self.validated)]))
    #expect(Self.members(of: answer).contains("channels.*.notes[].source string"))
  }

  @Test func `It says what an answer to validate always has`() throws {
    let answer = try answer(PushPreview(channel: .xiaomi, preview: ChannelPreview(nil), quota: nil))
    let preview = try #require(answer["channels"]?["xiaomi"]?.object)
    let required = find("#/components/schemas/ChannelPreview")?["required"]?.array ?? []
    #expect(preview.members.map(\.key).sorted() == required.compactMap(\.string).sorted())
    let bare = try parseJSON(PushController.success(id, sendno: 0)).object?.members.map(\.key)
    #expect(bare == find(Self.validated)?["required"]?.array?.compactMap(\.string))
    let success = document["paths"]?["/v3/push/validate"]?["post"]?["responses"]?["200"]
    let schema = success?["content"]?["application/json"]?["schema"]
    #expect(schema == ["$ref": .string(Self.validated)])
  }

  private static let validated = "#/components/schemas/Validated"

  private var id: MessageID { get throws { try #require(MessageID(decimal: Array("342316487155712".utf8))) } }

  private func answer(_ preview: PushPreview) throws -> JSONValue {
    try parseJSON(
      PushController.success(id, sendno: 0) {
        PushController.writeExtensions([preview], ignored: ["options.new"], to: &$0)
      })
  }

  /// The paths of all that has no members, each with its type; `*` is the name of any channel.
  private static func members(of value: JSONValue, at path: String = "") -> Set<String> {
    switch value {
    case .object(let object):
      object.members.reduce(into: []) { found, member in
        let name = member.key == "xiaomi" ? "*" : member.key
        found.formUnion(members(of: member.value, at: path.isEmpty ? name : "\(path).\(name)"))
      }
    case .array(let elements):
      elements.reduce(into: []) { $0.formUnion(members(of: $1, at: path + "[]")) }
    case .string: ["\(path) string"]
    case .number: ["\(path) integer"]
    case .bool: ["\(path) boolean"]
    case .null: ["\(path) null"]
    }
  }

  /// The same of what a schema describes.
  private func members(ofSchema reference: JSONValue, at path: String = "") -> Set<String> {
    guard let schema = resolve(reference) else { return [] }
    let type = schema["type"]?.string ?? schema["type"]?.array?.first?.string
    if type == "array" { return schema["items"].map { members(ofSchema: $0, at: path + "[]") } ?? [] }
    guard type == "object" else { return ["\(path) \(type ?? "any")"] }
    var found: Set<String> = []
    for member in schema["properties"]?.object?.members ?? [] {
      let inner = path.isEmpty ? member.key : "\(path).\(member.key)"
      found.formUnion(members(ofSchema: member.value, at: inner))
    }
    if let other = schema["additionalProperties"] {
      found.formUnion(members(ofSchema: other, at: path + ".*"))
    }
    return found
  }

  /// What a value is, or what it refers to.
  private func resolve(_ value: JSONValue) -> JSONValue? {
    guard let reference = value["$ref"]?.string else { return value }
    return find(reference)
  }

  private func find(_ reference: String) -> JSONValue? {
    var value: JSONValue? = reference.hasPrefix("#/") ? document : nil
    for name in reference.dropFirst(2).split(separator: "/") { value = value?[String(name)] }
    return value
  }

  private static func references(in value: JSONValue) -> [String] {
    let own = value["$ref"]?.string.map { [$0] } ?? []
    let members = (value.object?.members ?? []).flatMap { references(in: $0.value) }
    return own + members + (value.array ?? []).flatMap { references(in: $0) }
  }
}
