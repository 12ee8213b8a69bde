import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import Channels

/// The spans of requests to APNs.
@Suite(.timeLimit(.minutes(2))) struct APNsSpanTests {
  /// A scene whose pushes are traced.
  private func scene(_ collector: TestCollector) async throws -> (QueueScene, Tracer) {
    var made: Tracer?
    let scene = try await QueueScene { clock in
      made = try collector.tracer(share: 1, time: clock)
      return made
    }
    return (scene, try #require(made))
  }

  private func follow(_ push: MessageID, _ scene: QueueScene, _ tracer: Tracer) throws {
    let span = try #require(tracer.begin(HTTPRequest(method: "POST", target: "/")))
    tracer.follow(push, of: scene.app.id, span)
  }

  @Test func `Results that come together are one span of their push`() async throws {
    let collector = try TestCollector()
    let (scene, tracer) = try await scene(collector)
    for token in 1...3 as ClosedRange<UInt8> { _ = try await scene.register(token) }
    let plain = try await scene.push()
    let traced = try await scene.push()
    try follow(traced, scene, tracer)
    let requests = try await scene.popRequests()
    #expect(requests.count == 6)
    scene.world.clock.advance(seconds: 2)
    let failed = requests.last { $0.id.high == traced.rawValue }?.tag
    let answers = requests.map { request in
      APNsResultEntry(
        tag: request.tag, result: .answered(APNsAnswer(status: request.tag == failed ? 500 : 200)))
    }
    scene.dispatchers[.production]?.answered(answers)
    try await tracer.flush { !collector.spans.isEmpty }
    let span = try #require(collector.spans.first)
    #expect(collector.spans.count == 1 && span.name == "send apns" && span.kind == 3)
    #expect(plain != traced && span.attributes["borealis.msg_id"] == traced.text)
    #expect(span.attributes["borealis.app_key"] == scene.app.key.text)
    #expect(span.attributes["borealis.devices"] == "3" && span.attributes["borealis.accepted"] == "2")
    #expect(!span.isError, "some were accepted")
    #expect(span.ended - span.began == 2_000_000_000, "it began when they were sent")
  }

  @Test func `What nobody was sent is in no span, and without any success it is an error`() async throws {
    let collector = try TestCollector()
    let (scene, tracer) = try await scene(collector)
    for token in 1...3 as ClosedRange<UInt8> { _ = try await scene.register(token) }
    try follow(try await scene.push(), scene, tracer)
    let requests = try await scene.popRequests()
    let results: [APNsResult] = [.notSent, .unknown, .answered(APNsAnswer(status: 500))]
    #expect(requests.count == 3)
    scene.dispatchers[.production]?.answered(
      zip(requests, results).map { APNsResultEntry(tag: $0.tag, result: $1) })
    try await tracer.flush { !collector.spans.isEmpty }
    let span = try #require(collector.spans.first)
    #expect(span.attributes["borealis.devices"] == "2" && span.attributes["borealis.accepted"] == "0")
    #expect(span.isError)
  }
}
