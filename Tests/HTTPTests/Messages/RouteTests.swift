import HTTP
import Testing

@Suite struct RouteTests {
  @Test(
    arguments: [
      ("/", [], []), ("//v3//push/", ["v3", "push"], []), ("/a%20b+c/%E4%BD%A0", ["a b+c", "你"], []),
      ("/a%2Fb?", ["a/b"], []), ("/?a=1&b=x+y%2B&&c&=d&e==", [], ["a=1", "b=x y+", "c=", "=d", "e=="]),
      ("/a?b?c=/", ["a"], ["b?c=/"]),
    ] as [(String, [String], [String])]) func targets(text: String, path: [String], query: [String]) throws
  {
    let target = try #require(HTTPTarget(text))
    #expect(target.path == path)
    #expect(target.query.map { "\($0.name)=\($0.value)" } == query)
  }

  @Test(arguments: [
    "", "a", "*", "?a", "/%", "/%4", "/%zz", "/%+1", "/%00", "/%ff", "/%c0%80", "/%ed%a0%80", "/a/../b", "/.",
    "/%2e%2e",
    "/?a=%", "/?%=1", "/?a=%80", String(repeating: "/a", count: 65),
    "/?" + String(repeating: "a&", count: 129),
  ]) func badTargets(text: String) {
    #expect(HTTPTarget(text) == nil)
  }

  @Test func bounds() {
    #expect(HTTPTarget(String(repeating: "/a", count: 64))?.path.count == 64)
    #expect(HTTPTarget("/?" + String(repeating: "a&", count: 128))?.query.count == 128)
    #expect(HTTPTarget("/?a=1&a=2")?["a"] == "1")
    #expect(HTTPTarget("/?a=1")?["b"] == nil)
  }

  private var table: RouteTable<Int> {
    var table = RouteTable<Int>()
    table.add("GET", "/", 0)
    table.add("POST", "/v3/push", 1)
    table.add("GET", "/v3/devices/{id}", 2)
    table.add("POST", "/v3/devices/{id}", 3)
    table.add("POST", "/v3/devices/status/", 4)
    table.add("GET", "/v3/tags/{tag}/registration_ids/{id}", 5)
    table.add("HEAD", "/v3/push", 6)
    return table
  }

  @Test(
    arguments: [
      ("GET", [], "0 nil nil"), ("HEAD", [], "0 nil nil"), ("POST", ["v3", "push"], "1 nil nil"),
      ("HEAD", ["v3", "push"], "6 nil nil"), ("GET", ["v3", "push"], "HEAD,POST"), ("POST", [], "GET"),
      ("GET", ["v3", "devices", "x"], "2 x nil"), ("POST", ["v3", "devices", "x"], "3 x nil"),
      ("POST", ["v3", "devices", "status"], "4 nil nil"),
      ("GET", ["v3", "devices", "status"], "POST"), ("PUT", ["v3", "devices", "status"], "POST"),
      ("get", ["v3", "devices", "x"], "GET,POST"),
      ("GET", ["v3", "tags", "t/ü", "registration_ids", "r"], "5 r t/ü"), ("GET", ["v3"], "none"),
      ("GET", ["v3", "devices", "x", "y"], "none"), ("GET", ["v3", "tags", "t", "x", "r"], "none"),
    ] as [(String, [String], String)]) func routes(method: String, path: [String], expected: String)
  {
    let found =
      switch table.match(method, path) {
      case .found(let handler, let captures):
        "\(handler) \(captures["id"] ?? "nil") \(captures["tag"] ?? "nil")"
      case .wrongMethod(let allowed): allowed.joined(separator: ",")
      case .notFound: "none"
      }
    #expect(found == expected)
  }
}
