import BorealisBase

@testable import DevTools

/// Rules with one known key, and requests to put before them.
struct RuleWorld {
  static let start: Int64 = 1_800_000_000
  static let deviceToken = String(repeating: "0a", count: 32)
  static let id = "5b2f6a52-6c58-4d0f-9c33-0a6f0a4f7c11"
  static let alert = #"{"aps":{"alert":"hello"}}"#

  let key: TestKey
  var rules = APNsRules()
  var state = ProviderTokenState()
  var certificate: ClientCertificate?
  let token: String

  init() throws {
    key = try TestKey()
    rules.providerTokens.add(try key.known())
    token = try key.token(at: Self.start)
  }

  /// The fields of a push that is fine, with some of them replaced; nil takes a field away.
  func request(_ changes: [String: String?] = [:], body: String = alert) -> SimulatedRequest {
    let fields: KeyValuePairs<String, String> = [
      ":method": "POST", ":scheme": "https", ":authority": "localhost",
      ":path": "/3/device/" + Self.deviceToken, "authorization": "bearer " + token,
      "apns-topic": "com.example.app", "apns-push-type": "alert", "apns-id": Self.id,
    ]
    var request = SimulatedRequest([:], body: body)
    func add(_ name: String, _ value: String) { request.add(Array(name.utf8)[...], Array(value.utf8)[...]) }
    for (name, value) in fields {
      if let change = changes[name] {
        if let change { add(name, change) }
      } else {
        add(name, value)
      }
    }
    for (name, value) in changes where !fields.contains(where: { $0.key == name }) {
      if let value { add(name, value) }
    }
    return request
  }

  /// The verdict on a request that comes so many seconds after the start.
  mutating func judge(_ request: SimulatedRequest, after seconds: Double = 0) -> APNsRules.Outcome {
    let now = Timestamp(milliseconds: Int64((Double(Self.start) + seconds) * 1000))
    return rules.judge(request, certificate: certificate, &state, now: now)
  }

  /// The reason of the verdict, "" if the push is accepted.
  mutating func reason(
    _ changes: [String: String?] = [:], body: String = alert, after seconds: Double = 0
  ) -> String {
    let verdict = judge(request(changes, body: body), after: seconds).verdict
    return verdict.reason ?? (verdict.isAccepted ? "" : "status \(verdict.status)")
  }
}
