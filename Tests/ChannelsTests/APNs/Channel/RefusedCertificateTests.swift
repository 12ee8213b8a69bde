import BorealisBase
import Core
import HTTP
import PushTesting
import Synchronization
import Testing

@testable import Channels

/// Apple ends connections because of the credential, instead of refusing each request.
@Suite(.timeLimit(.minutes(5))) struct RefusedCertificateTests {
  @Test func `A refused certificate, or a GOAWAY that names one, pauses the credential`() async throws {
    for event in [
      HTTP2PoolEvent.refusedCertificate(reason: "alert certificate revoked"),
      .goAway(code: "NO_ERROR", debug: #"{"reason":"BadCertificate"}"#),
    ] {
      let scene = try await QueueScene()
      scene.dispatchers[.production]?.noticed(event)
      let id = scene.app.id
      #expect(scene.parts.credentials.problem(id)?.contains("ertificate") == true)
      #expect(scene.parts.credentials.problem(id, .sandbox) == nil)
    }
    let scene = try await QueueScene()
    for debug in [#"{"reason":"Shutdown"}"#, #"{"reason":"IdleTimeout"}"#, "", "BadCertificate"] {
      scene.dispatchers[.production]?.noticed(.goAway(code: "NO_ERROR", debug: debug))
    }
    #expect(scene.parts.credentials.problem(scene.app.id) == nil)
  }

  @Test func `Who asks about a refused certificate hears what pushes hear`() async throws {
    let scene = try await QueueScene()
    let dispatcher = try #require(scene.dispatchers[.production])
    let verdict = Mutex<CredentialVerdict?>(nil)
    dispatcher.ask(about: "com.example.app") { answer in verdict.withLock { $0 = answer } }
    dispatcher.noticed(.refusedCertificate(reason: "alert certificate revoked"))
    dispatcher.noticed(.failed(reason: "alert certificate revoked", retryMilliseconds: 1))
    #expect(verdict.withLock { $0 } == .refused("alert certificate revoked"))
    let problem = scene.parts.credentials.problem(scene.app.id)
    #expect(problem == "paused: Apple answered alert certificate revoked")
  }
}
