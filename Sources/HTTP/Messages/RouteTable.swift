/// Finds the handler for a method and a path. A pattern is a path whose segments are literal or captures:
/// `/v3/{name}`.
public struct RouteTable<Handler> {
  /// The result of a lookup.
  public enum Match {
    /// The handler, and what its pattern captured.
    case found(Handler, RouteCaptures)
    /// The path is known, the method is not; the methods that are, sorted, for the `Allow` field.
    case wrongMethod(allowed: [String])
    /// No pattern has this path.
    case notFound
  }

  // Inlinable, so that it is compiled for the handlers' type: each request comes by here.
  @usableFromInline
  struct Route {
    @usableFromInline let handler: Handler
    @usableFromInline let names: [String]
  }

  @usableFromInline
  struct Node {
    @usableFromInline var literals: [String: Int] = [:]
    @usableFromInline var capture: Int?
    @usableFromInline var routes: [String: Route] = [:]
  }

  @usableFromInline private(set) var nodes = [Node()]

  /// Starts empty.
  public init() {}

  /// Adds a route; one of the same method and shape is replaced.
  public mutating func add(_ method: String, _ pattern: String, _ handler: Handler) {
    var node = 0
    var names: [String] = []
    for segment in pattern.split(separator: "/") {
      let isCapture = segment.hasPrefix("{") && segment.hasSuffix("}")
      if isCapture { names.append(String(segment.dropFirst().dropLast())) }
      let known = isCapture ? nodes[node].capture : nodes[node].literals[String(segment)]
      if let known {
        node = known
        continue
      }
      nodes.append(Node())
      if isCapture {
        nodes[node].capture = nodes.count - 1
      } else {
        nodes[node].literals[String(segment)] = nodes.count - 1
      }
      node = nodes.count - 1
    }
    nodes[node].routes[method] = Route(handler: handler, names: names)
  }

  /// Looks up decoded segments. A literal takes precedence over a capture, whatever the method (as in
  /// OpenAPI). `HEAD` finds the handler of `GET` if it has none of its own.
  @inlinable
  public func match(_ method: String, _ path: [String]) -> Match {
    var values: [String] = []
    var allowed: Set<String> = []
    guard let route = find(method, path[...], 0, &values, &allowed) else {
      return allowed.isEmpty ? .notFound : .wrongMethod(allowed: allowed.sorted())
    }
    return .found(route.handler, RouteCaptures(names: route.names, values: values))
  }

  @inlinable
  func find(
    _ method: String, _ path: ArraySlice<String>, _ node: Int, _ values: inout [String],
    _ allowed: inout Set<String>
  ) -> Route? {
    guard let segment = path.first else {
      let routes = nodes[node].routes
      if let route = routes[method] ?? (method == "HEAD" ? routes["GET"] : nil) { return route }
      allowed.formUnion(routes.keys)
      return nil
    }
    let rest = path.dropFirst()
    if let next = nodes[node].literals[segment], let route = find(method, rest, next, &values, &allowed) {
      return route
    }
    guard allowed.isEmpty, let next = nodes[node].capture else { return nil }
    values.append(segment)
    if let route = find(method, rest, next, &values, &allowed) { return route }
    values.removeLast()
    return nil
  }
}

extension RouteTable: Sendable where Handler: Sendable {}
extension RouteTable.Node: Sendable where Handler: Sendable {}
extension RouteTable.Route: Sendable where Handler: Sendable {}
extension RouteTable.Match: Sendable where Handler: Sendable {}

/// The values of a pattern's captures in a path.
public struct RouteCaptures: Sendable, Equatable {
  let names: [String]
  let values: [String]

  @usableFromInline
  init(names: [String], values: [String]) {
    self.names = names
    self.values = values
  }

  /// The decoded segment of a capture.
  public subscript(name: String) -> String? {
    for (index, candidate) in names.enumerated() where candidate == name && index < values.count {
      return values[index]
    }
    return nil
  }
}
