import BorealisBase
import Testing

@testable import DevTools

@Suite struct AuthenticationTests {
  @Test func aGoodTokenPassesForAnHour() throws {
    for (seconds, reason) in [
      (0.0, ""), (3600, ""), (3601.5, "ExpiredProviderToken"), (-3600, ""), (-7200, "ExpiredProviderToken"),
    ] {
      var world = try RuleWorld()
      #expect(world.reason(after: seconds) == reason)
    }
  }

  @Test func itsAgeIsCheckedOnEachRequest() throws {
    var world = try RuleWorld()
    #expect(world.reason(after: 0) == "")
    #expect(world.reason(after: 3000) == "")
    #expect(world.reason(after: 3700) == "ExpiredProviderToken")
  }

  @Test func theClockCanRunFaster() throws {
    var world = try RuleWorld()
    world.rules.providerTokens.clockFactor = 600
    #expect(world.reason(after: 6) == "")
    #expect(world.reason(after: 8) == "ExpiredProviderToken")
  }

  @Test func tokensHaveOneForm() throws {
    var world = try RuleWorld()
    let key = world.key
    let (header, claims) = (#"{"alg":"ES256","kid":"KEY0000001"}"#, #"{"iss":"TEAM000001","iat":1800000000}"#)
    let good = try key.token(header: header, claims: claims)
    let parts = good.split(separator: ".")
    let tokens = [
      (good, ""), (Self.withOtherSignature(good), "InvalidProviderToken"),
      (good + "=", "InvalidProviderToken"), (good + ".", "InvalidProviderToken"),
      (parts[0] + "." + parts[1], "InvalidProviderToken"), ("..", "InvalidProviderToken"),
      ("x", "InvalidProviderToken"), (parts[0] + ".." + parts[2], "InvalidProviderToken"),
      (good.replacing("_", with: "/").replacing("-", with: "+") + " ", "InvalidProviderToken"),
      (String(repeating: "a", count: 5000), "InvalidProviderToken"),
    ]
    for (token, reason) in tokens {
      world.state = ProviderTokenState()
      #expect(world.reason(["authorization": "bearer " + token]) == reason, "\(token)")
    }
  }

  /// The token with its signature in the form of most libraries, which JWTs do not have.
  private static func withOtherSignature(_ token: String) -> String {
    let parts = token.split(separator: ".")
    let raw = Base64URL.decode(Array(parts[2].utf8)[...]) ?? []
    return parts[0] + "." + parts[1] + "." + TestKey.base64URL(TestKey.der(raw))
  }

  @Test(arguments: [
    (#"{"alg":"ES256","kid":"KEY0000001","typ":"JWT"}"#, #"{"iss":"TEAM000001","iat":1800000000}"#, true),
    (#"{"alg":"HS256","kid":"KEY0000001"}"#, #"{"iss":"TEAM000001","iat":1800000000}"#, false),
    (#"{"alg":"none","kid":"KEY0000001"}"#, #"{"iss":"TEAM000001","iat":1800000000}"#, false),
    (#"{"kid":"KEY0000001"}"#, #"{"iss":"TEAM000001","iat":1800000000}"#, false),
    (#"{"alg":"ES256"}"#, #"{"iss":"TEAM000001","iat":1800000000}"#, false),
    (#"{"alg":"ES256","kid":"KEY0000002"}"#, #"{"iss":"TEAM000001","iat":1800000000}"#, false),
    (#"{"alg":"ES256","kid":"KEY0000001"}"#, #"{"iss":"TEAM000002","iat":1800000000}"#, false),
    (#"{"alg":"ES256","kid":"KEY0000001"}"#, #"{"iss":"TEAM000001","iat":"1800000000"}"#, false),
    (#"{"alg":"ES256","kid":"KEY0000001"}"#, #"{"iss":"TEAM000001"}"#, false),
    (#"{"alg":"ES256","kid":"KEY0000001"}"#, #"{"iat":1800000000}"#, false),
    (#"{"alg":"ES256","kid":"KEY0000001"}"#, "[]", false),
  ])
  func claimsAreChecked(header: String, claims: String, isGood: Bool) throws {
    var world = try RuleWorld()
    let token = try world.key.token(header: header, claims: claims)
    #expect(
      world.reason(["authorization": "bearer " + token]) == (isGood ? "" : "InvalidProviderToken"))
  }

  @Test func anotherKeysSignatureIsRefused() throws {
    var world = try RuleWorld()
    let outsider = try TestKey().token(at: RuleWorld.start)
    #expect(world.reason(["authorization": "bearer " + outsider]) == "InvalidProviderToken")
    // A key that is known is checked even where unknown ones are not.
    world.rules.providerTokens.acceptsUnknownKeys = true
    #expect(world.reason(["authorization": "bearer " + outsider]) == "InvalidProviderToken")
    let unknown = try TestKey("KEY0000009", team: "TEAM000009").token(at: RuleWorld.start)
    #expect(world.reason(["authorization": "bearer " + unknown]) == "")
  }

  @Test func theSchemeMayBeWrittenInAnyCase() throws {
    var world = try RuleWorld()
    #expect(world.reason(["authorization": "Bearer " + world.token]) == "")
  }

  @Test func tokensMayChangeEveryTwentyMinutes() throws {
    var world = try RuleWorld()
    func field(_ seconds: Int64) throws -> [String: String?] {
      ["authorization": "bearer " + (try world.key.token(at: RuleWorld.start + seconds))]
    }
    let (first, second, third, fourth) = (try field(0), try field(10), try field(700), try field(1250))
    #expect(world.reason(first) == "")
    // A connection may well begin with a token that is about to be replaced.
    #expect(world.reason(second, after: 10) == "")
    #expect(world.reason(second, after: 600) == "")
    #expect(world.reason(third, after: 700) == "TooManyProviderTokenUpdates")
    // From then on the connection is of no use until the time is over.
    #expect(world.reason(second, after: 800) == "TooManyProviderTokenUpdates")
    #expect(world.reason(second, after: 1211) == "")
    #expect(world.reason(fourth, after: 1250) == "")
  }

  @Test func aConnectionIsForOneTeam() throws {
    var world = try RuleWorld()
    let other = try TestKey("KEY0000002", team: "TEAM000002")
    world.rules.providerTokens.add(try other.known())
    #expect(world.reason() == "")
    let field = ["authorization": "bearer " + (try other.token(at: RuleWorld.start))]
    #expect(world.reason(field) == "InvalidProviderToken")
    world.state = ProviderTokenState()
    #expect(world.reason(field) == "")
  }

  @Test func aConnectionIsForOneFamilyOfKeys() throws {
    var world = try RuleWorld()
    let keys = try (2...5).map { try TestKey("KEY000000\($0)") }
    world.rules.providerTokens.add(try keys[0].known())
    world.rules.providerTokens.add(try keys[1].known(bundles: ["com.example.app"], family: "a"))
    world.rules.providerTokens.add(try keys[2].known(bundles: ["com.example.app"], family: "a"))
    world.rules.providerTokens.add(try keys[3].known(bundles: ["com.example.app"], family: "b"))
    func field(_ index: Int) throws -> [String: String?] {
      ["authorization": "bearer " + (try keys[index].token(at: RuleWorld.start))]
    }
    let fields = try keys.indices.map(field)
    #expect(world.reason() == "")
    #expect(world.reason(fields[1]) == "UnrelatedKeyIdInToken")
    #expect(world.reason(fields[0]) == "")
    world.state = ProviderTokenState()
    #expect(world.reason(fields[1]) == "")
    #expect(world.reason(fields[3]) == "UnrelatedKeyIdInToken")
    #expect(world.reason(fields[2]) == "")
  }

  @Test func keysMayBeLimited() throws {
    var world = try RuleWorld()
    let key = try TestKey("KEY0000002")
    world.rules.providerTokens.add(try key.known(environment: .sandbox, bundles: ["com.example.app"]))
    let field = ["authorization": "bearer " + (try key.token(at: RuleWorld.start))]
    #expect(world.reason(field) == "BadEnvironmentKeyIdInToken")
    world.rules.providerTokens.environment = .sandbox
    #expect(world.reason(field) == "")
    #expect(world.reason(field.merging(["apns-topic": "com.example.other"]) { $1 }) == "TopicDisallowed")
    let call = ["apns-topic": "com.example.app.voip", "apns-push-type": "voip"]
    #expect(world.reason(field.merging(call) { $1 }) == "")
  }

  @Test func topicsMayBeLimited() throws {
    var world = try RuleWorld()
    world.rules.bundles = [Array("com.example.other".utf8)[...]]
    #expect(world.reason() == "TopicDisallowed")
    #expect(world.reason(["apns-topic": "com.example.other"]) == "")
  }

  @Test func certificatesHaveTopicsAndEnvironments() throws {
    var world = try RuleWorld()
    let topics = ["com.example.app", "com.example.app.voip"]
    let both = ClientCertificate(topics: topics, environments: [.production, .sandbox])
    let single = ClientCertificate(topics: ["com.example.app"], environments: [.production])
    let table: [(ClientCertificate, [String: String?], String)] = [
      (both, [:], ""), (both, ["apns-topic": nil], "MissingTopic"), (single, ["apns-topic": nil], ""),
      (both, ["apns-topic": "com.example.app.voip", "apns-push-type": "voip"], ""),
      (both, ["apns-topic": "com.example.app.voip"], "InvalidPushType"),
      (single, ["apns-topic": "com.example.app.voip", "apns-push-type": "voip"], "TopicDisallowed"),
      (single, ["apns-topic": "com.example.other"], "TopicDisallowed"),
      (single, ["apns-topic": ""], "BadTopic"),
      (ClientCertificate(topics: topics, environments: [.sandbox]), [:], "BadCertificateEnvironment"),
      (ClientCertificate(topics: [], environments: [.production]), [:], "BadCertificate"),
    ]
    for (certificate, changes, reason) in table {
      world.certificate = certificate
      // A provider token is not looked at then.
      for authorization in [nil, "bearer x"] as [String?] {
        #expect(world.reason(changes.merging(["authorization": authorization]) { $1 }) == reason)
      }
    }
  }
}
