import BorealisBase
import BorealisCrypto
import HTTP
import Testing

@testable import DevTools

/// What the simulated Push Kit of HarmonyOS takes and refuses.
@Suite struct HarmonySimulatorTests {
  private func check(_ payload: String, type: String? = "0", options: String = "{}", tokens: Int = 1) throws
    -> String?
  {
    let list = (0..<tokens).map { "t\($0)" }
    let target = list.map { "\"\($0)\"" }.joined(separator: ",")
    let text = #"{"payload":\#(payload),"target":{"token":[\#(target)]},"pushOptions":\#(options)}"#
    let body = Array(text.utf8)
    let request = HTTPRequest(method: "POST", target: "/", body: body)
    do throws(SimulatedMakerRules.Fault) {
      try HarmonyRules.check(request, try? parseJSON(body), list, type)
      return nil
    } catch { return "\(error.code) \(error.message)" }
  }

  private func shown(_ more: String = "", without name: String = "") -> String {
    let members = [
      ("category", #""IM""#), ("title", #""t""#), ("body", #""b""#), ("clickAction", #"{"actionType":0}"#),
    ]
    let text = members.filter { $0.0 != name }.map { #""\#($0.0)":\#($0.1)"# }.joined(separator: ",")
    return #"{"notification":{\#(text)\#(more.isEmpty ? "" : "," + more)}}"#
  }

  @Test func accepted() throws {
    for more in [
      "", #""notifyId":0,"appMessageId":"a+/=-_ 1""#, #""style":3,"inboxContent":["a","b","c"]"#,
      #""badge":{"addNum":99,"setNum":0}"#, #""image":"https://a.example/i.png""#,
      #""sound":"a.mp3","soundDuration":60,"foregroundShow":false"#,
    ] { #expect(try check(shown(more)) == nil, "\(more)") }
    #expect(try check(shown(), tokens: 1000) == nil)
    #expect(try check(shown(), options: #"{"testMessage":true,"ttl":1296000}"#, tokens: 10) == nil)
    #expect(try check(#"{"extraData":"e"}"#, type: "10", options: #"{"ttl":30}"#) == nil)
    #expect(try check(#"{"extraData":"e","proxyData":"ENABLE"}"#, type: "6") == nil)
    let live = #"{"activityId":1,"operation":0,"event":"TAXI","status":"s"}"#
    #expect(try check(live, type: "7") == nil)
  }

  @Test func refused() throws {
    for name in ["title", "body", "category", "clickAction"] {
      #expect(try check(shown(without: name))?.hasPrefix("80100001 ") == true, "\(name)")
    }
    for more in [
      #""notifyId":2147483648"#, #""notifyId":-1"#, #""appMessageId":"a.b""#, #""appMessageId":"""#,
      #""style":3"#, #""style":3,"inboxContent":["a","b","c","d"]"#, #""style":1"#, #""badge":{}"#,
      #""badge":{"addNum":0}"#, #""badge":{"setNum":100}"#, #""image":"http://a.example/i.png""#,
      #""soundDuration":61"#,
    ] { #expect(try check(shown(more))?.hasPrefix("80100001 ") == true, "\(more)") }
    for more in [#""titel":"x""#, #""badge":{"num":1}"#] {
      #expect(try check(shown(more))?.hasPrefix("80100003 ") == true, "\(more)")
    }
    for click in [
      #"{"actionType":1}"#, #"{"actionType":0,"uri":"a"}"#, #"{"actionType":2}"#,
      #"{"actionType":0,"data":"x"}"#,
    ] {
      let text = shown(#""clickAction":\#(click)"#, without: "clickAction")
      #expect(try check(text)?.hasPrefix("80100001 ") == true, "\(click)")
    }
    for options in [#"{"ttl":0}"#, #"{"ttl":1296001}"#, #"{"ttl":"60"}"#, #"{"receiptId":1}"#] {
      #expect(try check(shown(), options: options)?.hasPrefix("80100001 ") == true, "\(options)")
    }
    #expect(try check(#"{"extraData":"e"}"#, type: "10", options: #"{"ttl":61}"#) == "80100001 ttl")
    #expect(try check(#"{"extraData":""}"#, type: "10") == "80100001 extraData")
    #expect(try check(shown(), type: nil) == "80100001 push-type")
    #expect(try check(shown(), type: "3") == "80100001 push-type")
    #expect(try check(shown(), tokens: 1001)?.hasPrefix("80300010 ") == true)
    #expect(try check(shown(), options: #"{"testMessage":true}"#, tokens: 11)?.hasPrefix("80300010 ") == true)
    #expect(try check("{}", type: "1", tokens: 2)?.hasPrefix("80300010 ") == true)
    let large = #""image":"https://\#(String(repeating: "x", count: 4096))""#
    #expect(try check(shown(large))?.hasPrefix("80300008 ") == true)
  }

  @Test func tokens() throws {
    let key = try RSAKey.generate()
    let account = HarmonySimulatorAccount(key)
    let now: Int64 = 1_800_000_000
    func refusal(_ header: String, _ claims: String, by signer: RSAKey, _ algorithm: RSAAlgorithm = .ps256)
      throws -> Int64?
    {
      let signed = Base64.encodeURL(Array(header.utf8)) + "." + Base64.encodeURL(Array(claims.utf8))
      let token = signed + "." + Base64.encodeURL(try signer.sign(Array(signed.utf8), algorithm))
      let request = HTTPRequest(
        method: "POST", target: "/", headers: ["Authorization": "Bearer \(token)"])
      return account.refusal(request, at: now)?.code
    }
    func claims(_ issuer: String = "100200", from: Int64 = now - 10, to end: Int64 = now + 3590) -> String {
      #"{"iss":"\#(issuer)","aud":"https://oauth-login.cloud.huawei.com/oauth2/v3/token","iat":\#(from),"exp":\#(end)}"#
    }
    let header = #"{"kid":"simulator-key","typ":"JWT","alg":"PS256"}"#
    #expect(try refusal(header, claims(), by: key) == nil)
    #expect(try refusal(header, claims(), by: key, .rs256) == 80_200_001)
    #expect(try refusal(header, claims(), by: try RSAKey.generate()) == 80_200_001)
    #expect(try refusal(header.replacing("PS256", with: "RS256"), claims(), by: key) == 80_200_001)
    #expect(try refusal(header, claims("1"), by: key) == 80_200_001)
    #expect(try refusal(header, claims(from: now + 900), by: key) == 80_200_001)
    #expect(try refusal(header, claims(to: now - 1), by: key) == 80_200_005)
    #expect(try refusal(header, claims(to: now + 86_400), by: key) == 80_300_036)
    #expect(account.refusal(HTTPRequest(method: "POST", target: "/"), at: now)?.code == 80_200_001)
  }
}
