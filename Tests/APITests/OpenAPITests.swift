import BorealisBase
import Testing

@testable import API

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
