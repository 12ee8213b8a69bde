import API
import BorealisBase
import HTTP
import Testing

/// Which app a request names, before anybody has looked at it.
@Suite struct RequestAppTests {
  private static let app = "0123456789abcdef01234567"
  private static let other = "76543210fedcba9876543210"

  private func found(_ target: String, user: String? = nil, body: String = "") -> String? {
    var headers: HTTPHeaders = [:]
    if let user { headers.append("authorization", "Basic \(Base64.encode(Array("\(user):secret".utf8)))") }
    let request = HTTPRequest(method: "POST", target: target, headers: headers, body: Array(body.utf8))
    return Gateway.app(of: request)?.text
  }

  @Test(
    arguments: [
      // Credentials of an app, a group, nobody.
      ("/v3/push", app, "", app), ("/v3/grouppush", "group-\(app)", "", app), ("/v3/push", nil, "", nil),
      ("/v3/push", "x", "", nil), ("/v1/pushes/1", app, "", app),
      // A developer's say nothing of apps that the path names.
      ("/v1/app/\(app)", other, "", app), ("/v1/app/\(app)/delete?x=1", other, "", app),
      ("/v1/app", other, "", other), ("/v1/app/x", other, "", nil),
      // Devices name their apps in the body.
      ("/v1/receipts", nil, #"{"app_key": "\#(app)"}"#, app),
      ("/v1/tokens", other, #"{"app_key": "\#(app)"}"#, app), ("/v1/tokens", nil, "{", nil),
      ("/v1/receipts", nil, "", nil), ("/v1/receipts", nil, #"{"app_key": 1}"#, nil),
      // Services name them in the path, with what only they know.
      ("/v1/vendor-receipts/huawei/\(app)-co-de_", nil, "", app),
      ("/v1/vendor-receipts/huawei/co-de_", nil, "", nil),
      ("/v1/vendor-receipts/huawei", nil, "", nil),
    ] as [(String, String?, String, String?)])
  func `A request names its app`(target: String, user: String?, body: String, expected: String?) {
    #expect(found(target, user: user, body: body) == expected)
  }

  @Test func `A body that is too large for any device names nobody`() {
    let long = String(repeating: "x", count: 9 << 10)
    #expect(found("/v1/receipts", body: #"{"app_key": "\#(Self.app)", "x": "\#(long)"}"#) == nil)
  }
}
