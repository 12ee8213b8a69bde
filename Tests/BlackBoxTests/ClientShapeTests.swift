import BorealisBase
import PushTesting
import Testing

/// Requests byte for byte as JPush's clients send them, against the program.
@Suite struct ClientShapeTests {
  let folder = TemporaryFolder()

  private static let push =
    #"{"platform":"all","audience":"all","notification":{"alert":"x"},"options":{"sendno":7}}"#

  /// A client's request: `%a` stands for what follows `Basic`, `%k` for the app key, `%n` for the length of
  /// the body.
  private struct Shape {
    let client: String
    let head: [String]
    let body: [String]
    var status = 200
    /// Members that the answer has.
    var members: [String] = ["sendno", "msg_id"]
  }

  private static let shapes = [
    Shape(
      client: "Node: chunked, no Content-Length",
      head: [
        "POST /v3/push HTTP/1.1", "Authorization: Basic %a", "Content-Type: application/json",
        "User-Agent: JPush-API-NodeJS-Client", "Transfer-Encoding: chunked", "Host: 127.0.0.1",
        "Connection: close",
      ],
      body: ["57\r\n", push, "\r\n", "0\r\n\r\n"]),
    Shape(
      client: "PHP: a doubled slash, and an offer of HTTP/2",
      head: [
        "POST /v3//push/validate HTTP/1.1", "Host: 127.0.0.1", "Authorization: Basic %a",
        "User-Agent: JPush-API-PHP-Client", "Accept: */*", "Connection: Upgrade, HTTP2-Settings",
        "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA", "Content-Type: application/json",
        "Content-Length: %n",
      ],
      body: [
        #"{"platform":["ios","android"],"audience":"all","notification":{"alert":"x","android":{"alert":"x","#
          + #""extras":{}},"ios":{"alert":"x","sound":"","badge":"+1"}},"message":{"msg_content":"m","extras":[]},"#
          + #""options":{"sendno":100000,"apns_production":false}}"#
      ]),
    Shape(
      client: "Ruby: a slash at the end",
      head: [
        "POST /v3/push/ HTTP/1.1", "Accept-Encoding: gzip;q=1.0,deflate;q=0.6,identity;q=0.3",
        "Accept: application/json", "User-Agent: jpush-api-ruby-client/4.0.11", "Connection: close",
        "Content-Type: application/json", "Host: 127.0.0.1", "Authorization: Basic %a", "Content-Length: %n",
      ],
      body: [
        #"{"cid":"%k-8103a4c628a0b98974ec1949","platform":"all","audience":"all","notification":{"alert":"x"}}"#
      ]),
    Shape(
      client: "Java: in two pieces, with a charset",
      head: [
        "POST /v3/push HTTP/1.1", "Accept-Charset: UTF-8", "Charset: UTF-8",
        "User-Agent: JPush-API-Java-Client", "Authorization: Basic %a", "Content-Type: application/json",
        "Host: 127.0.0.1", "Accept: text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
        "Connection: close", "Content-Length: %n",
      ],
      body: [String(push.prefix(20)), String(push.dropFirst(20))]),
    Shape(
      client: "Java: jpush-client 3.7.8 with an in-app message",
      head: [
        "POST /v3/push HTTP/1.1", "Accept-Charset: UTF-8", "Charset: UTF-8",
        "User-Agent: JPush-API-Java-Client", "Authorization: Basic %a", "Content-Type: application/json",
        "Host: 127.0.0.1", "Connection: close", "Content-Length: %n",
      ],
      body: [
        #"{"platform":"all","audience":"all","notification":{"alert":"x","android":{"alert":"x"}},"#
          + #""options":{"sendno":7,"apns_production":false},"inapp_message":{"inapp_message":true}}"#
      ]),
    Shape(
      client: "Java: jiguang-sdk, that takes gzip",
      head: [
        "POST /v3/push HTTP/1.1", "Accept: */*", "Accept-Encoding: gzip", "Authorization: Basic %a",
        "Content-Type: application/json;charset=UTF-8", "Content-Length: %n", "Host: 127.0.0.1",
        "Connection: close", "User-Agent: okhttp/4.12.0",
      ], body: [push]),
    Shape(
      client: "Go: capitals in the middle, a type of its own",
      head: [
        "POST /v3/push HTTP/1.1", "Host: 127.0.0.1", "User-Agent: jiguang-sdk-go", "Content-Length: %n",
        "Accept: application/json", "Authorization: Basic %a", "Charset: UTF-8",
        "Content-Type: application/json", "Accept-Encoding: gzip", "Connection: close",
      ], body: [push]),
    Shape(
      client: "Python: a malformed type",
      head: [
        "POST /v3/push HTTP/1.1", "Host: 127.0.0.1", "user-agent: jpush-api-python-client",
        "Accept-Encoding: gzip, deflate", "Accept: */*", "Connection: close",
        "content-type: application/json;charset:utf-8", "Authorization: Basic %a", "Content-Length: %n",
      ], body: [push]),
    Shape(
      client: "C#: a body of text",
      head: [
        "POST /v3/push HTTP/1.1", "Host: 127.0.0.1", "Authorization: Basic %a",
        "Content-Type: text/plain; charset=utf-8", "Expect: 100-continue", "Connection: close",
        "Content-Length: %n",
      ], body: [push]),
    Shape(
      client: "Node: a cid without a query",
      head: ["GET /v3/push/cid HTTP/1.1", "Authorization: Basic %a", "Host: 127.0.0.1", "Connection: close"],
      body: [], members: ["cidlist"]),
    Shape(
      client: "Ruby: a device that is not there, below //",
      head: [
        "GET /v3//devices/0123456789abcdef012 HTTP/1.1", "Authorization: Basic %a", "Host: 127.0.0.1",
        "Connection: close",
      ], body: [], status: 400, members: ["error"]),
    Shape(
      client: "curl: a file as a form",
      head: [
        "POST /v3/files/alias HTTP/1.1", "Host: 127.0.0.1", "Authorization: Basic %a", "Accept: */*",
        "Content-Length: %n", "Connection: close",
        "Content-Type: multipart/form-data; boundary=------------------------d74496d66958873e",
      ],
      body: [
        "--------------------------d74496d66958873e\r\nContent-Disposition: form-data; name=\"filename\"; "
          + "filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nanna\nben\n\r\n"
          + "--------------------------d74496d66958873e--\r\n"
      ], members: ["file_id"]),
  ]

  /// The secret of an API key that clients use in place of the master secret.
  private static func makeKey(of app: TestServer.App, on server: TestServer) throws -> String {
    let made = try server.call(
      "POST", "/v1/api-keys", as: app, body: ["name": "clients", "rights": ["push", "devices"]])
    return try #require(made.document?["secret"]?.string)
  }

  @Test(arguments: [false, true])
  func `Requests as clients send them are understood, and answered as they insist`(hasKey: Bool) throws {
    let server = try TestServer(data: folder.path + "/data")
    let app = try server.makeApp()
    _ = try TestDevice.register(server.device, app: app.key, install: "one")
    _ = try TestDevice.register(server.device, app: app.key, install: "two")
    let secret = hasKey ? try Self.makeKey(of: app, on: server) : app.secret
    let login = Base64.encode(Array("\(app.key):\(secret)".utf8))
    for shape in Self.shapes {
      let body = shape.body.map { $0.replacing("%k", with: app.key) }
      let size = body.reduce(0) { $0 + $1.utf8.count }
      let head = shape.head.map { $0.replacing("%a", with: login).replacing("%n", with: "\(size)") }
      let socket = try TestSocket(server.http)
      // PHP leaves the connection open.
      let closes = head.contains("Connection: close")
      try socket.send(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8))
      for piece in body { try socket.send(Array(piece.utf8)) }
      if !closes { try socket.send(HTTPCall.request("GET", "/healthz", headers: ["Connection: close"])) }
      let answer = try Self.answer(socket)
      #expect(answer.status == shape.status, "\(shape.client): \(answer.body)")
      #expect(answer.head.contains("content-type: application/json\r\n"), "\(shape.client)")
      for name in [
        "x-rate-limit-quota", "x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset",
      ] {
        #expect(answer.head.contains("\(name): "), "\(shape.client)")
      }
      let members = answer.document?.object?.members.map(\.key) ?? []
      #expect(members == shape.members, "\(shape.client): \(answer.body)")
    }
  }

  /// The first answer on a connection that its server closes after the last.
  private static func answer(
    _ socket: TestSocket
  ) throws -> (status: Int, head: String, body: String, document: JSONValue?) {
    let all = try HTTPCall(answerOn: socket)
    var (status, head, rest) = (all.status, all.head, all.body)
    if status == 100, let end = rest.firstRange(of: "\r\n\r\n") {
      head = String(rest[..<end.lowerBound])
      status = Int(head.dropFirst(9).prefix(3)) ?? 0
      rest = String(rest[end.upperBound...])
    }
    head = head.lowercased() + "\r\n"
    let length = head.firstMatch(of: /content-length: (\d+)/).flatMap { Int($0.1) } ?? 0
    let body = String(decoding: rest.utf8.prefix(length), as: UTF8.self)
    return (status, head, body, try? parseJSON(Array(body.utf8)))
  }

  @Test func `A group of apps is made, pushes, changes and ends`() throws {
    let server = try TestServer(data: folder.path + "/data")
    let apps = try [server.makeApp("one"), server.makeApp("two"), server.makeApp("three")]
    for app in apps { _ = try TestDevice.register(server.device, app: app.key, install: "a") }
    func run(_ arguments: String...) throws -> Ending {
      try RunningProgram.run(["group"] + arguments + ["--data", server.data])
    }
    let made = try run("create", "Ours", "--app", "\(apps[0].key),\(apps[1].key)").documents.first ?? nil
    let key = try #require(made?["group_key"]?.string)
    let secret = try #require(made?["group_master_secret"]?.string)
    for text in [key, secret] { #expect(text.wholeMatch(of: /[0-9a-f]{24}/) != nil, "\(text)") }
    func push() throws -> [String] {
      let answer = try HTTPCall(
        "POST", "/v3/grouppush", at: server.http, login: ("group-\(key)", secret),
        body: #"{"platform":"all","audience":"all","notification":{"alert":"x"}}"#)
      #expect(answer.status == 200 || answer.status == 400 || answer.status == 401)
      guard answer.status == 200 else { return ["\(answer.document?["error"]?["code"]?.int64 ?? 0)"] }
      let members = answer.document?.object?.members ?? []
      #expect(members.first?.key == "group_msgid")
      return members.dropFirst().filter { $0.value["msg_id"]?.string != nil }.map(\.key)
    }
    #expect(try push() == [apps[0].key, apps[1].key].sorted())
    #expect(try run("add", key, apps[2].key).status == 0)
    #expect(try run("remove", key, apps[0].key).status == 0)
    #expect(try run("remove", key, apps[0].key).status == 1)
    #expect(try push() == [apps[1].key, apps[2].key].sorted())
    let list = try run("list").documents.first ?? nil
    #expect(list?["group_key"]?.string == key && list?["apps"]?.array?.count == 2)
    #expect(try run("create", "x", "--app", "nonsense").status == 2)
    #expect(try run("create", "x", "--app", String(repeating: "0", count: 24)).status == 1)
    #expect(try run("delete", key).status == 0)
    #expect(try run("delete", key).status == 1)
    #expect(try push() == ["1004"])
  }
}
