import BorealisBase
import Core
import HTTP
import Testing

@testable import API

/// `/v1/callback` and `/v1/callbacks`.
@Suite struct CallbackAPITests {
  @Test func nothingIsSetUpAtFirst() async throws {
    let world = try await GatewayWorld()
    let json = await world.call("GET", "/v1/callback").json
    #expect(json?["url"]?.isNull == true && json?["has_secret"]?.bool == false && json?["types"]?.int64 == 0)
    #expect(await world.call("POST", "/v1/callback/secret").outcome == "400 1003")
    #expect(await world.call("POST", "/v1/callback/test").outcome == "400 1003")
    #expect(await world.call("DELETE", "/v1/callback").outcome == "200")
  }

  @Test func theSecretIsShownOnce() async throws {
    let world = try await GatewayWorld()
    let body = #"{"url":"https://a.example/x","types":5}"#
    let first = await world.call("PUT", "/v1/callback", body).json
    let secret = try #require(first?["secret"]?.string)
    #expect(secret.hasPrefix("whsec_") && first?["types"]?.int64 == 5)
    #expect(first?["url"]?.string == "https://a.example/x")
    let again = await world.call("PUT", "/v1/callback", "{}").json
    #expect(again?["secret"] == nil && again?["url"]?.isNull == true && again?["types"]?.int64 == 63)
    #expect(await world.call("GET", "/v1/callback").json?["secret"] == nil)
    let newer = await world.call("POST", "/v1/callback/secret").json
    #expect(newer?["secret"]?.string != secret && newer?["secret"]?.string?.hasPrefix("whsec_") == true)
    #expect(newer?["old_secret_until"]?.string != nil)
    // It has no address to send to.
    #expect(await world.call("POST", "/v1/callback/test").outcome == "400 1003")
    #expect(await world.call("DELETE", "/v1/callback").outcome == "200")
    #expect(await world.call("GET", "/v1/callback").json?["has_secret"]?.bool == false)
  }

  @Test(arguments: [
    "", "x", "[]", #"{"url":5}"#, #"{"url":"ftp://a"}"#, #"{"url":"http://u:p@a/"}"#, #"{"types":64}"#,
    #"{"types":-1}"#, #"{"types":"5"}"#, #"{"secret":"x"}"#,
  ])
  func whatIsWrongIsRefused(body: String) async throws {
    let world = try await GatewayWorld()
    let answer = await world.call("PUT", "/v1/callback", body)
    #expect(answer.status == 400 && [1002, 1003].contains(answer.errorCode))
    #expect(await world.call("GET", "/v1/callback").json?["has_secret"]?.bool == false)
  }

  @Test func whatIsToldIsShown() async throws {
    let world = try await GatewayWorld()
    try await world.storeEvent("x-1")
    let list = await world.call("GET", "/v1/callbacks").json?["callbacks"]?.array ?? []
    let batch = try #require(list.first)
    #expect(batch["state"]?.string == "pending" && batch["attempts"]?.int64 == 0 && batch["body"] == nil)
    let number = try #require(batch["id"]?.int64)
    let shown = await world.call("GET", "/v1/callbacks/\(number)").json
    let events = try #require(shown?["body"]?.array)
    #expect(events.first?["event_id"]?.string == "x-1" && shown?["results"]?.array?.isEmpty == true)
    #expect(await world.call("POST", "/v1/callbacks/\(number)/resend").outcome == "200")
    #expect(
      await world.call("GET", "/v1/callbacks?before=\(number)").json?["callbacks"]?.array?.isEmpty == true)
    #expect(await world.call("GET", "/v1/callbacks?state=done").json?["callbacks"]?.array?.isEmpty == true)
    let other = try await world.addApp()
    #expect(await world.call("GET", "/v1/callbacks", as: other).json?["callbacks"]?.array?.isEmpty == true)
    #expect(await world.call("GET", "/v1/callbacks/\(number)", as: other).outcome == "400 1003")
    #expect(await world.call("POST", "/v1/callbacks/\(number)/resend", as: other).outcome == "400 1003")
  }

  @Test(arguments: [
    "/v1/callbacks?state=x", "/v1/callbacks?limit=0", "/v1/callbacks?limit=1001", "/v1/callbacks?limit=x",
    "/v1/callbacks?before=0", "/v1/callbacks?before=-1", "/v1/callbacks/0", "/v1/callbacks/x",
    "/v1/callbacks/99999999999999999999", "/v1/callbacks/7",
  ])
  func whatIsNotThereIsRefused(path: String) async throws {
    let world = try await GatewayWorld()
    #expect(await world.call("GET", path).outcome == "400 1003")
  }
}
