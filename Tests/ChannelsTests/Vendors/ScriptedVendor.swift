import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Synchronization

@testable import Channels

/// A vendor whose answers a test decides: a status means one outcome each.
struct ScriptedVendor: Vendor {
  final class Content: VendorContent {
    let badge = BadgeChange.unchanged
    let refusal: String? = nil
    let quota: String?
    init(quota: String?) { self.quota = quota }
    let isPrepared = Atomic(false)
    func forgetPreparation() { isPrepared.store(false, ordering: .sequentiallyConsistent) }
  }

  static let channel = ChannelInfo(
    id: ChannelID(rawValue: 77), name: "scripted", english: "Scripted", chinese: "Scripted",
    platforms: PlatformSet(.android), parts: .notification,
    tokens: [TokenKind(1, name: "device", form: .text, maximumBytes: 64)])

  /// The statuses and what they mean: 200 for accepted.
  static let quota = 432
  /// Too many requests for several devices today.
  static let listQuota = 433
  static let busy = 429
  /// A request with a token that begins with "y" is refused with this as one of another project.
  static let foreign = 434
  /// What prepared the push is not known any more.
  static let forgotten = 435

  let url: String
  /// Its services: a token that begins with b is of the second, if there are two.
  var services = [ServiceID.only]
  func service(of token: [UInt8]) -> ServiceID {
    services.count > 1 && token.first == UInt8(ascii: "b") ? services[1] : services[0]
  }
  var mostTokens = 1
  var fewestTokens = 1
  /// Whether each push begins with a request of its own, which is seen as one to the token "first".
  var prepares = false
  /// Whether its pushes count against quotas that their texts name.
  var hasQuotas = false
  /// The status for which the service takes a request but for the tokens that begin with "x".
  static let partial = 207
  /// When requests were made, on the clock of the test.
  let moments: Moments
  let clock: any TimeSource

  /// The times of requests, and what happens when the channel asks for the services.
  final class Moments: Sendable {
    let interruption = Interruption()
    private let all = Mutex<[(moment: Timestamp, token: [UInt8])]>([])
    func add(_ moment: Timestamp, _ token: [UInt8]) { all.withLock { $0.append((moment, token)) } }
    var tokens: [String] { all.withLock { $0.map { String(decoding: $0.token, as: UTF8.self) } } }
    /// The pushes that are to be recalled from devices, once for each request.
    var recalls: [MessageID] { taken.withLock { $0 } }
    private let taken = Mutex<[MessageID]>([])
    func addRecall(_ id: MessageID) { taken.withLock { $0.append(id) } }
    var list: [Timestamp] { all.withLock { $0.map(\.moment) } }
    func count(to token: String) -> Int { all.withLock { $0.count { $0.token == Array(token.utf8) } } }
  }

  var profile: VendorProfile {
    VendorProfile(
      Self.channel, Self.credential, [.answersProbes, .recalls],
      limits: VendorLimits(mostTokens: mostTokens, fewestTokens: fewestTokens),
      services: services.map { ($0, services.count > 1 ? "Service \($0.rawValue)" : "") })
  }
  var serviceIDs: [ServiceID] {
    moments.interruption.occur()
    return services
  }
  private static let credential = CredentialProfile(
    texts: CredentialTexts(
      step: Phrase("s", "s"), stepText: Phrase("s", "s"), none: Phrase("none", "none")),
    form: CredentialForm(
      "form", title: Phrase("f", "f"), text: Phrase("f", "f"),
      fields: [CredentialField("file", Phrase("f", "f"))]),
    subject: Phrase("Project", "Project"))

  func read(_ input: CredentialInput, replacing current: [UInt8]?) throws(CredentialProblem) -> VendorUpload {
    VendorUpload(subject: "subject", name: "", secret: input.fields["file"] ?? [])
  }
  func credential(_ secret: [UInt8]) -> [UInt8]? { secret }
  func authorize(_ credential: [UInt8], at now: Timestamp) -> AccessRequest {
    .ask(OutgoingRequest(url: url, body: []))
  }
  func readToken(_ answer: HTTPAnswer) -> AccessAnswer { .token("t", seconds: 864_000) }
  func refusedAgain(_ reason: String) -> VendorOutcome {
    services.count > 1 ? .dropForeignToken(reason) : .pauseAndAlertOperator(reason)
  }
  func carries(_ content: PushContent) -> Bool { true }
  func render(_ push: ChannelPush) -> Content? {
    Content(quota: hasQuotas ? AndroidNotification(push, for: info.id)?.body : nil)
  }
  func request(
    _ content: Content, to target: VendorTarget, with credential: [UInt8], access: AccessToken
  ) -> VendorRequest {
    if prepares, !content.isPrepared.load(ordering: .sequentiallyConsistent) {
      moments.add(clock.now(), Array("first".utf8))
      return .first(OutgoingRequest(url: url, body: []))
    }
    moments.add(clock.now(), Array(target.tokens.joined(separator: [UInt8(ascii: " ")])))
    return .post(OutgoingRequest(url: url, body: target.token))
  }
  func probe(_ credential: [UInt8], access: AccessToken) -> OutgoingRequest? {
    OutgoingRequest(url: url, body: [])
  }
  func endsRecall(_ answer: HTTPAnswer) -> Bool { answer.status == 200 }
  func request(_ recall: VendorRecall, with credential: [UInt8], access: AccessToken) -> OutgoingRequest? {
    moments.addRecall(recall.push)
    return OutgoingRequest(url: url, body: [])
  }
  func prepared(_ answer: HTTPAnswer, _ content: Content, with credential: [UInt8]) -> VendorOutcome {
    let outcome = interpret(answer)
    content.isPrepared.store(outcome == .accepted, ordering: .sequentiallyConsistent)
    return outcome
  }
  func interpret(_ answer: HTTPAnswer) -> VendorOutcome {
    switch answer.status {
    case Self.quota: .stopUntilQuotaReset("the quota is used up")
    case Self.listQuota: .sendSinglyUntilQuotaReset("the quota of lists is used up")
    case Self.busy:
      .retryAfter(RetrySchedule(firstSeconds: 600), seconds: answer.retryAfter, rests: true, "busy")
    case Self.forgotten: .prepareAgain("forgotten")
    case 401: .refreshAuthOnce("refused")
    default: .accepted
    }
  }
  func interpret(_ answer: HTTPAnswer, for tokens: [[UInt8]]) -> VendorAnswer {
    if answer.status == Self.foreign {
      let isBad = tokens.contains { $0.first == UInt8(ascii: "y") }
      return VendorAnswer(isBad ? .dropForeignToken("foreign") : .accepted)
    }
    guard answer.status == Self.partial else { return VendorAnswer(interpret(answer)) }
    let bad = tokens.filter { $0.first == UInt8(ascii: "x") }.map { ($0, VendorOutcome.dropToken("bad")) }
    return VendorAnswer(.accepted, exceptions: Dictionary(uniqueKeysWithValues: bad))
  }
  func meaning(of reason: String) -> Phrase? { nil }
}
