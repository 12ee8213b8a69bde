import BorealisBase
import Model
import Testing

/// What an API key is for.
@Suite struct APIKeyGrantTests {
  private static let now = Timestamp(milliseconds: 1_790_000_000_000)

  private static func outcome(_ body: String) throws -> (grant: APIKeyGrant?, error: APIError?) {
    let json = try parseJSON(Array(body.utf8))
    do throws(APIError) { return (try APIKeyGrant.parse(json, at: now), nil) } catch { return (nil, error) }
  }

  @Test func `A request names rights, networks and an end`() throws {
    let body =
      #"{"name":" shop ","rights":["push","reports","push"],"networks":["192.0.2.0/24","2001:db8::1"],"#
      + #""expires_at":"2027-01-31T12:00:00Z"}"#
    let grant = try #require(try Self.outcome(body).grant)
    #expect(grant.name == "shop" && grant.rights == [APIRights(.push), APIRights(.reports)])
    #expect(grant.networks?.map(\.text) == ["192.0.2.0/24", "2001:db8::1/128"])
    #expect(grant.expiresAt.map { Log.iso8601($0.milliseconds) } == "2027-01-31T12:00:00.000Z")
    let plain = #"{"name":"x","rights":["settings"],"networks":[],"expires_at":null,"note":""}"#
    #expect(try Self.outcome(plain).grant == APIKeyGrant(name: "x", rights: APIRights(.settings)))
  }

  @Test(arguments: [
    ("[]", 1003), ("{}", 1002), (#"{"rights":["push"]}"#, 1002), (#"{"name":"x"}"#, 1002),
    (#"{"name":"","rights":["push"]}"#, 1003), (#"{"name":7,"rights":["push"]}"#, 1003),
    (#"{"name":"a\nb","rights":["push"]}"#, 1003), (#"{"name":"x","rights":[]}"#, 1002),
    (#"{"name":"x","rights":["admin"]}"#, 1003), (#"{"name":"x","rights":"push"}"#, 1003),
    (#"{"name":"x","rights":[1]}"#, 1003),
    (#"{"name":"x","rights":["push"],"networks":["10.0.0.1/8"]}"#, 1003),
    (#"{"name":"x","rights":["push"],"networks":"10.0.0.0/8"}"#, 1003),
    (#"{"name":"x","rights":["push"],"expires_at":"2026-01-01T00:00:00Z"}"#, 1003),
    (#"{"name":"x","rights":["push"],"expires_at":1900000000}"#, 1003),
    (#"{"name":"x","rights":["push"],"expires_at":"2027-02-30T00:00:00Z"}"#, 1003),
    (#"{"name":"x","rights":["push"],"expires":"2027-01-01T00:00:00Z"}"#, 1009),
  ])
  func `What is wrong is refused`(body: String, code: Int) throws {
    let result = try Self.outcome(body)
    #expect(result.error?.code == code, "\(body): \(result)")
  }

  @Test(
    arguments: [
      ("2027-01-31T12:00:00Z", 1_801_396_800_000), ("2027-01-31T12:00:00.250Z", 1_801_396_800_250),
      ("1970-01-01T00:00:00Z", 0), ("2027-01-31 12:00:00Z", nil), ("2027-01-31T12:00:00", nil),
      ("2027-01-31T12:00:00+08:00", nil), ("2027-01-31T24:00:00Z", nil), ("2027-01-31T12:00:00.25Z", nil),
      ("2027-01-31T12:00:00,250Z", nil), ("", nil),
    ] as [(String, Int64?)])
  func `Times are read as they are written`(text: String, milliseconds: Int64?) {
    #expect(Timestamp(iso8601: text)?.milliseconds == milliseconds)
    if let moment = Timestamp(iso8601: text) {
      #expect(Timestamp(iso8601: Log.iso8601(moment.milliseconds)) == moment)
    }
  }

  @Test func `A key is over at the very moment of its end`() {
    let grant = APIKeyGrant(name: "x", rights: .all, expiresAt: Self.now)
    #expect(!grant.isExpired(at: Timestamp(milliseconds: Self.now.milliseconds - 1)))
    #expect(grant.isExpired(at: Self.now))
    #expect(!APIKeyGrant(name: "x", rights: .all).isExpired(at: Timestamp(milliseconds: .max)))
  }

  @Test func `A key makes no key that may do more`() {
    func grant(_ rights: APIRights, _ networks: [String]?, _ seconds: Int64?) -> APIKeyGrant {
      APIKeyGrant(
        name: "x", rights: rights, networks: networks?.compactMap { IPNetwork($0) },
        expiresAt: seconds.map { Self.now.adding(seconds: $0) })
    }
    let both: APIRights = [APIRights(.push), APIRights(.settings)]
    let own = grant(both, ["10.0.0.0/8", "2001:db8::/32"], 100)
    for (other, word) in [
      (grant(both, ["10.1.0.0/16"], 100), nil), (grant(APIRights(.push), ["2001:db8:1::/48"], 1), nil),
      (grant(.all, ["10.0.0.0/8"], 100), "rights"), (grant(both, ["10.0.0.0/8"], 101), "expires_at"),
      (grant(both, ["10.0.0.0/8"], nil), "expires_at"), (grant(both, nil, 100), "networks"),
      (grant(both, ["10.0.0.0/8", "192.0.2.1"], 100), "networks"),
      (grant(both, ["0.0.0.0/0"], 100), "networks"), (grant(both, ["::/0"], 100), "networks"),
    ] as [(APIKeyGrant, String?)] {
      let excess = other.excess(over: own)
      #expect((excess == nil) == (word == nil) && excess?.hasPrefix(word ?? "") != false, "\(other)")
    }
    #expect(grant(.all, nil, nil).excess(over: grant(.all, nil, nil)) == nil)
  }
}
