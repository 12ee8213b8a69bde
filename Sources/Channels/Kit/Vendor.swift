import BorealisBase
import Core
import HTTP
import Model

/// The service of a phone's maker or of a platform, over HTTPS: what differs from vendor to vendor.
/// `VendorChannel` makes a channel of it. All of it is pure: bytes in, bytes out, except that signing takes
/// random numbers.
package protocol Vendor: Sendable {
  /// What an app proves itself with, ready for use.
  associatedtype Credential: Sendable
  /// A push, rendered once for all of its devices.
  associatedtype Content: VendorContent

  /// What is data about it.
  var profile: VendorProfile { get }

  /// The services that its tokens belong to: those of the profile.
  var serviceIDs: [ServiceID] { get }
  /// The service of a token.
  func service(of token: [UInt8]) -> ServiceID
  /// Checks a token that a device reports; returns the bytes that are stored.
  func check(_ token: [UInt8]) -> Result<[UInt8], ReportedTokenFault>

  /// Checks a credential that was handed in; `current` is the app's present one, if it can be opened.
  func read(_ input: CredentialInput, replacing current: Credential?) throws(CredentialProblem)
    -> VendorUpload
  /// What pages say of a credential with this name (`VendorUpload.name`).
  func describe(_ name: String) -> CredentialDescription
  /// Makes a credential of what `read` gave to be sealed; nil if it cannot be used.
  func credential(_ secret: [UInt8]) -> Credential?
  /// How requests get the token of access that they need.
  func authorize(_ credential: Credential, at now: Timestamp) -> AccessRequest
  /// What the answer to it says.
  func readToken(_ answer: HTTPAnswer) -> AccessAnswer

  /// Whether it has something to bring of a push, for `offers`. Called for each push.
  func carries(_ content: PushContent) -> Bool
  /// Renders a push; nil if there is nothing to bring.
  func render(_ push: ChannelPush) -> Content?
  /// The request that brings it to a device, or to several, up to `VendorLimits.mostTokens`.
  func request(
    _ content: Content, to target: VendorTarget, with credential: Credential, access: AccessToken
  ) -> VendorRequest
  /// A request that no device gets, whose answer shows whether the service takes the credential; nil if there
  /// is none: then the profile does not say `answersProbes`.
  func probe(_ credential: Credential, access: AccessToken) -> OutgoingRequest?
  /// What the answer to a request that prepares a push says (`VendorRequest.first`). If it is `accepted`, the
  /// content has what requests for devices need.
  func prepared(_ answer: HTTPAnswer, _ content: Content, with credential: Credential) -> VendorOutcome
  /// What the answer to a request or a probe says; it has a status.
  func interpret(_ answer: HTTPAnswer) -> VendorOutcome
  /// What the answer to a request for some tokens says of each.
  func interpret(_ answer: HTTPAnswer, for tokens: [[UInt8]]) -> VendorAnswer
  /// What it means if the service refuses a new token of access as well; never `refreshAuthOnce`.
  func refusedAgain(_ reason: String) -> VendorOutcome
  /// What a reason of the service means, in a sentence.
  func meaning(of reason: String) -> Phrase?

  /// The request that has shown notifications removed from devices; nil if the credential does not allow it.
  func request(_ recall: VendorRecall, with credential: Credential, access: AccessToken) -> OutgoingRequest?
  /// Whether the answer to it is the last word; else the request is repeated for a while.
  func endsRecall(_ answer: HTTPAnswer) -> Bool

  /// What the service would get of a push, for its sender to see; nil if there is nothing to say.
  func preview(_ content: PushContent, app: String) -> ChannelPreview?
  /// How devices announce what it brings of a push.
  func tone(of content: PushContent) -> PushTone
  /// What an answer says of the app's quota for the day, as `total` and `used`; nil if it says nothing.
  func quota(in answer: HTTPAnswer) -> (total: Int64, used: Int64)?

  /// What the service signs receipts with; nil if it does not, or if the credential has nothing for it.
  func receiptKey(of credential: Credential) -> ReceiptKey?
}

/// What a vendor need not have.
extension Vendor {
  /// The only one.
  package func service(of token: [UInt8]) -> ServiceID { .only }
  /// A token of the right form is good.
  package func check(_ token: [UInt8]) -> Result<[UInt8], ReportedTokenFault> { .success(token) }
  /// There is a notification for Android.
  package func carries(_ content: PushContent) -> Bool { content.isForVendors(on: .android) }
  /// There is nothing to ask.
  package func probe(_ credential: Credential, access: AccessToken) -> OutgoingRequest? { nil }
  /// The same as of other requests.
  package func prepared(
    _ answer: HTTPAnswer, _ content: Content, with credential: Credential
  ) -> VendorOutcome { interpret(answer) }
  /// The same of all.
  package func interpret(_ answer: HTTPAnswer, for tokens: [[UInt8]]) -> VendorAnswer {
    VendorAnswer(interpret(answer))
  }
  /// The credential is at fault.
  package func refusedAgain(_ reason: String) -> VendorOutcome { .pauseAndAlertOperator(reason) }
  /// None.
  package func request(_ recall: VendorRecall, with credential: Credential, access: AccessToken)
    -> OutgoingRequest?
  {
    nil
  }
  /// There is no answer.
  package func endsRecall(_ answer: HTTPAnswer) -> Bool { true }
  /// There is nothing to say.
  package func preview(_ content: PushContent, app: String) -> ChannelPreview? { nil }
  /// As its preview says; with a sound if there is none.
  package func tone(of content: PushContent) -> PushTone { preview(content, app: "")?.tone ?? .loud }
  /// It says nothing.
  package func quota(in answer: HTTPAnswer) -> (total: Int64, used: Int64)? { nil }
  /// It signs nothing.
  package func receiptKey(of credential: Credential) -> ReceiptKey? { nil }
  /// The name of a key.
  package func describe(_ name: String) -> CredentialDescription {
    CredentialDescription(name.isEmpty ? Phrase("Credential", "凭证") : Phrase("Key {}", "密钥 {}").with(name))
  }
}

/// What pages say of a stored credential besides its subject.
package struct CredentialDescription: Sendable {
  /// What it is called.
  package let name: Phrase
  /// What else is worth knowing. Nothing secret.
  package let facts: [StoredCredential.Fact]
  /// What pages subscribe with; nil for a service without subscriptions.
  package let publicKey: String?

  package init(_ name: Phrase, facts: [StoredCredential.Fact] = [], publicKey: String? = nil) {
    self.name = name
    self.facts = facts
    self.publicKey = publicKey
  }
}

/// How requests get a token of access.
package enum AccessRequest: Sendable {
  /// The service is asked for one.
  case ask(OutgoingRequest)
  /// Nobody is asked: this one, for so many seconds.
  case granted(String, seconds: Int64)
  /// The credential cannot be used, for this reason.
  case impossible(String)
}

/// What brings a push to devices.
package enum VendorRequest: Sendable {
  /// This request.
  case post(OutgoingRequest)
  /// This one comes first, once for all devices of the push, and then the vendor is asked again.
  case first(OutgoingRequest)
  /// None: what a service would say shows already.
  case ended(VendorOutcome)
}

/// A push as a vendor's requests hold it.
package protocol VendorContent: AnyObject, Sendable {
  /// What it does to the number on the app's icon.
  var badge: BadgeChange { get }
  /// Why no device can get it, such as its size, decided before anything is sent; nil if nothing is wrong.
  var refusal: String? { get }
  /// The most devices that one request reaches, if that is fewer than the vendor's `mostTokens`.
  var mostTokens: Int { get }
  /// Seconds after which it is useless, such as a call; nil for the push's time to live.
  var lifetime: Int64? { get }
  /// Which of the app's quotas it counts against, where the service has several; nil for the only one.
  var quota: String? { get }
  /// The service no longer knows what prepared the push (`VendorRequest.first`).
  func forgetPreparation()
}

extension VendorContent {
  /// As many as the vendor's.
  package var mostTokens: Int { .max }
  /// The push's time to live.
  package var lifetime: Int64? { nil }
  /// The only one.
  package var quota: String? { nil }
  /// There is none.
  package func forgetPreparation() {}
}

/// A notification that is recalled from devices that may show it.
package struct VendorRecall: Sendable {
  package let push: MessageID
  /// What it says.
  package let content: PushContent
  /// What the service knows the devices by: never empty, at most the vendor's `mostTokens`.
  package let tokens: [[UInt8]]
}

/// Whom a request is for.
package struct VendorTarget: Sendable {
  /// What the service knows the devices by: never empty.
  package let tokens: [[UInt8]]
  /// What it knows the only device by, or the first of several.
  package var token: [UInt8] { tokens[0] }
  package let push: MessageID
  /// The number on the app's icon; nil if the push leaves it as it is.
  package let badge: Int64?
  /// How long the service is to keep it for the device, in seconds.
  package let secondsToLive: Int64
  /// What the service passes back with receipts.
  package let passing: ReceiptPassing

  package init(token: [UInt8], push: MessageID, badge: Int64? = nil, secondsToLive: Int64) {
    self.init(tokens: [token], push: push, badge: badge, secondsToLive: secondsToLive)
  }

  /// Several devices with all else in common; at least one.
  init(
    tokens: [[UInt8]], push: MessageID, badge: Int64?, secondsToLive: Int64,
    passing: ReceiptPassing? = nil
  ) {
    self.tokens = tokens
    self.push = push
    self.badge = badge
    self.secondsToLive = secondsToLive
    self.passing = passing ?? ReceiptPassing(tag: push.text)
  }
}

/// A credential that passed the checks.
package struct VendorUpload: Sendable, Equatable {
  /// What it is for, as the service calls it: the project, the app ID.
  package let subject: String
  /// Which of the subject's credentials it is; empty if there is nothing to tell them apart.
  package let name: String
  /// What is sealed.
  package let secret: [UInt8]

  package init(subject: String, name: String, secret: [UInt8]) {
    self.subject = subject
    self.name = name
    self.secret = secret
  }
}

/// What a service says to a request for a token of access.
package enum AccessAnswer: Sendable, Equatable {
  /// A token, and how many seconds it is good for.
  case token(String, seconds: Int64)
  /// The credential is not accepted, for this reason.
  case refused(String)
  /// Ask again later; nil for when the server thinks fit.
  case later(String, seconds: Int64?)
}

/// What a service's answer means for the tokens of a request.
package struct VendorAnswer: Sendable, Equatable {
  /// For all tokens that are not in `exceptions`.
  package let outcome: VendorOutcome
  /// Tokens about which the service says something else.
  package let exceptions: [[UInt8]: VendorOutcome]

  /// Both.
  package init(_ outcome: VendorOutcome, exceptions: [[UInt8]: VendorOutcome] = [:]) {
    self.outcome = outcome
    self.exceptions = exceptions
  }

  /// For a token.
  package func outcome(for token: [UInt8]) -> VendorOutcome { exceptions[token] ?? outcome }
}

/// What a service's answer means for the push and the channel.
package enum VendorOutcome: Sendable, Equatable {
  /// The service took the push.
  case accepted
  /// The token is dead, for this reason of the service, and no wrong credential can be the cause: those get
  /// another answer.
  case dropDeadToken(String)
  /// The token is dead, for this reason of the service, or the credential is another app's. Said of a request
  /// for several tokens it costs none of them.
  case dropToken(String)
  /// The token belongs to another project, or the credential does: many of them mean the credential. Said of
  /// a request for several tokens it may be about one of them: smaller requests show which.
  case dropForeignToken(String)
  /// Token or content is wrong: the token, if the service took the same content for another device.
  case suspectToken(String)
  /// The token of access is not accepted: it is renewed, once for each request.
  case refreshAuthOnce(String)
  /// Try again after the seconds that the service asks for, or else by a schedule; with `rests` nothing of
  /// the app is sent until then.
  case retryAfter(RetrySchedule, seconds: Int64?, rests: Bool, String)
  /// Nothing can be sent before midnight in China, when quotas are counted anew.
  case stopUntilQuotaReset(String)
  /// No request for several devices can be sent before then: each device gets one of its own.
  case sendSinglyUntilQuotaReset(String)
  /// The service no longer knows what prepared the push: it is prepared again.
  case prepareAgain(String)
  /// The credential may not do this: nothing is sent until somebody has looked.
  case pauseAndAlertOperator(String)
  /// The service does not take the content.
  case rejectContent(String)

  /// The device shows no notifications of the app: the token is good, and the user may turn them on again.
  package static let notificationsOff = rejectContent(ReceiptReason.notificationsOff.rawValue)
}
