import PushBase
import PushChannels
import PushDomain
import PushHTTPClient
import PushRouter

/// The service of a phone's maker or of a platform, over HTTPS: what differs from vendor to vendor. `VendorChannel` makes a channel
/// of it. All of it is pure: bytes in, bytes out, except that signing takes random numbers.
public protocol Vendor: Sendable {
  /// What an app proves itself with, ready for use.
  associatedtype Credential: Sendable
  /// A push, rendered once for all of its devices.
  associatedtype Content: VendorContent

  /// What the channel is.
  var info: ChannelInfo { get }
  /// What pages say of it.
  var texts: CredentialTexts { get }
  /// The form with which a credential is handed in.
  var form: CredentialForm { get }
  /// What the subject of a credential is called: "Project".
  var subjectLabel: Phrase { get }
  /// Which of a device's tokens notifications go to.
  var slot: TokenSlot { get }

  /// The services that its tokens belong to, if a vendor stands for several: each rests on its own when it fails.
  var serviceIDs: [ServiceID] { get }
  /// The service of a token.
  func service(of token: [UInt8]) -> ServiceID
  /// A service for people; empty for the only one.
  func name(of service: ServiceID) -> String
  /// Checks a token that a device tells; gives the bytes that are kept.
  func check(_ token: [UInt8]) -> Result<[UInt8], ToldTokenFault>

  /// Checks a credential that was handed in; `current` is the app's present one, if it can be opened.
  func read(_ input: CredentialInput, replacing current: Credential?) throws(CredentialProblem)
    -> VendorUpload
  /// What a form for a new credential holds already, by the names of fields, from the present one's subject.
  func values(of subject: String) -> [String: String]
  /// Whether `probe` gives something.
  var canBeAsked: Bool { get }
  /// What pages say of a credential with this name (`VendorUpload.name`).
  func describe(_ name: String) -> CredentialDescription
  /// Makes a credential of what `read` gave to be sealed; nil if it cannot be used.
  func credential(_ secret: [UInt8]) -> Credential?
  /// How requests get the token of access that they need.
  func authorize(_ credential: Credential, at now: Timestamp) -> AccessRequest
  /// What the answer to it says.
  func readToken(_ answer: HTTPAnswer) -> AccessAnswer

  /// The most devices that one request reaches (`VendorTarget.tokens`).
  var mostTokens: Int { get }
  /// The fewest that share one: fewer have a request each.
  var fewestTokens: Int { get }
  /// Whether it has something to bring of a push, for `offers`. Called for each push.
  func carries(_ content: PushContent) -> Bool
  /// Renders a push; nil if there is nothing to bring.
  func render(_ push: ChannelPush) -> Content?
  /// Whether making a request takes much processor time: then several threads make them.
  var isCostly: Bool { get }
  /// The request that brings it to a device, or to several with `mostTokens`.
  func request(
    _ content: Content, to target: VendorTarget, with credential: Credential, access: AccessToken
  ) -> VendorRequest
  /// A request that no device gets, whose answer shows whether the service takes the credential; nil if there is none.
  func probe(_ credential: Credential, access: AccessToken) -> HTTPPost?
  /// What the answer to a request that prepares a push says (`VendorRequest.first`). If it is `accepted`, the content has what
  /// requests for devices need.
  func prepared(_ answer: HTTPAnswer, _ content: Content, with credential: Credential) -> VendorOutcome
  /// What the answer to a request or a probe says; it has a status.
  func interpret(_ answer: HTTPAnswer) -> VendorOutcome
  /// What the answer to a request for some tokens says of each.
  func interpret(_ answer: HTTPAnswer, for tokens: [[UInt8]]) -> VendorAnswer
  /// What it means if the service refuses a new token of access as well; never `refreshAuthOnce`.
  func refusedAgain(_ reason: String) -> VendorOutcome
  /// What a reason of the service means, in a sentence.
  func meaning(of reason: String) -> Phrase?

  /// Whether its service takes shown notifications back from devices.
  var canRecall: Bool { get }
  /// The request that does; nil if the credential does not allow it.
  func request(_ recall: VendorRecall, with credential: Credential, access: AccessToken) -> HTTPPost?
  /// Whether the answer to it is the last word; else the request is repeated for a while.
  func endsRecall(_ answer: HTTPAnswer) -> Bool

  /// What its service allows.
  var rules: MakerRules? { get }
  /// What the service would get of a push, for its sender to see; nil if there is nothing to say.
  func preview(_ content: PushContent, app: String) -> ChannelPreview?
  /// What an answer says of the app's quota for the day, as `total` and `used`; nil if it says nothing.
  func quota(in answer: HTTPAnswer) -> (total: Int64, used: Int64)?

  /// How its service tells what became of pushes; nil if it does not.
  var receipts: (any ReceiptFormat)? { get }
  /// Whether the service is told with each push where its receipts go (`ReceiptPassing.address`), and not in its console.
  var isToldOfReceipts: Bool { get }
  /// Whether the address of receipts is entered in the service's console, which may be needed in either case.
  var isReceiptAddressEntered: Bool { get }
  /// The most bytes of an address that the service is told. It is told of none that is longer.
  var longestReceiptAddress: Int { get }
  /// What the service signs receipts with; nil if it does not, or if the credential has nothing for it.
  func receiptKey(of credential: Credential) -> ReceiptKey?
}

extension Vendor {
  /// One service.
  public var serviceIDs: [ServiceID] { [.only] }
  /// The only one.
  public func service(of token: [UInt8]) -> ServiceID { .only }
  /// It needs no name.
  public func name(of service: ServiceID) -> String { "" }
  /// A token of the right form is good.
  public func check(_ token: [UInt8]) -> Result<[UInt8], ToldTokenFault> { .success(token) }
  /// None are known.
  public var rules: MakerRules? { nil }
  /// By its rules, or else a request for each device.
  public var mostTokens: Int { rules?.devices.value ?? 1 }
  /// It does not.
  public var isCostly: Bool { false }
  /// Any number.
  public var fewestTokens: Int { 1 }
  /// The same as of other requests.
  public func prepared(
    _ answer: HTTPAnswer, _ content: Content, with credential: Credential
  ) -> VendorOutcome { interpret(answer) }
  /// The same of all.
  public func interpret(_ answer: HTTPAnswer, for tokens: [[UInt8]]) -> VendorAnswer {
    VendorAnswer(interpret(answer))
  }
  /// The credential is at fault.
  public func refusedAgain(_ reason: String) -> VendorOutcome { .pauseAndTellOperator(reason) }
  /// It does not.
  public var canRecall: Bool { false }
  /// None.
  public func request(_ recall: VendorRecall, with credential: Credential, access: AccessToken) -> HTTPPost? {
    nil
  }
  /// There is no answer.
  public func endsRecall(_ answer: HTTPAnswer) -> Bool { true }
  /// Nothing.
  public func values(of subject: String) -> [String: String] { [:] }
  /// It does.
  public var canBeAsked: Bool { true }
  /// There is nothing to say.
  public func preview(_ content: PushContent, app: String) -> ChannelPreview? { nil }
  /// It says nothing.
  public func quota(in answer: HTTPAnswer) -> (total: Int64, used: Int64)? { nil }
  /// It tells nothing.
  public var receipts: (any ReceiptFormat)? { nil }
  /// In its console.
  public var isToldOfReceipts: Bool { false }
  /// Where the service is not told otherwise.
  public var isReceiptAddressEntered: Bool { !isToldOfReceipts }
  /// Any.
  public var longestReceiptAddress: Int { .max }
  /// It signs nothing.
  public func receiptKey(of credential: Credential) -> ReceiptKey? { nil }
  /// The name of a key.
  public func describe(_ name: String) -> CredentialDescription {
    CredentialDescription(name.isEmpty ? Phrase("Credential", "凭证") : Phrase("Key {}", "密钥 {}").with(name))
  }
}

/// What pages say of a stored credential besides its subject.
public struct CredentialDescription: Sendable {
  /// What it is called.
  public let name: Phrase
  /// What else is worth knowing. Nothing secret.
  public let facts: [StoredCredential.Fact]
  /// What pages subscribe with; nil for a service without subscriptions.
  public let publicKey: String?

  /// All fields.
  public init(_ name: Phrase, facts: [StoredCredential.Fact] = [], publicKey: String? = nil) {
    self.name = name
    self.facts = facts
    self.publicKey = publicKey
  }
}

/// How requests get a token of access.
public enum AccessRequest: Sendable {
  /// The service is asked for one.
  case ask(HTTPPost)
  /// Nobody is asked: this one, for so many seconds.
  case granted(String, seconds: Int64)
  /// The credential cannot be used, for this reason.
  case impossible(String)
}

/// What brings a push to devices.
public enum VendorRequest: Sendable {
  /// This request.
  case post(HTTPPost)
  /// This one comes first, once for all devices of the push, and then the vendor is asked again.
  case first(HTTPPost)
  /// None: what a service would say shows already.
  case ended(VendorOutcome)
}

/// A push as a vendor's requests hold it.
public protocol VendorContent: AnyObject, Sendable {
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
  public var mostTokens: Int { .max }
  /// The push's time to live.
  public var lifetime: Int64? { nil }
  /// The only one.
  public var quota: String? { nil }
  /// There is none.
  public func forgetPreparation() {}
}

/// A notification that is taken back from devices that may show it.
public struct VendorRecall: Sendable {
  /// The push.
  public let push: MessageID
  /// What it says.
  public let content: PushContent
  /// What the service knows the devices by: never empty, at most the vendor's `mostTokens`.
  public let tokens: [[UInt8]]
}

/// Whom a request is for.
public struct VendorTarget: Sendable {
  /// What the service knows the devices by: never empty.
  public let tokens: [[UInt8]]
  /// What it knows the only device by, or the first of several.
  public var token: [UInt8] { tokens[0] }
  /// The push.
  public let push: MessageID
  /// The number on the app's icon; nil if the push leaves it as it is.
  public let badge: Int64?
  /// How long the service is to keep it for the device, in seconds.
  public let secondsToLive: Int64
  /// What the service passes back with receipts.
  public let passing: ReceiptPassing

  /// All fields.
  public init(token: [UInt8], push: MessageID, badge: Int64? = nil, secondsToLive: Int64) {
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
public struct VendorUpload: Sendable, Equatable {
  /// What it is for, as the service calls it: the project, the app ID.
  public let subject: String
  /// Which of the subject's credentials it is; empty if there is nothing to tell them apart.
  public let name: String
  /// What is sealed.
  public let secret: [UInt8]

  /// All fields.
  public init(subject: String, name: String, secret: [UInt8]) {
    self.subject = subject
    self.name = name
    self.secret = secret
  }
}

/// What a service says to a request for a token of access.
public enum AccessAnswer: Sendable, Equatable {
  /// A token, and how many seconds it is good for.
  case token(String, seconds: Int64)
  /// The credential is not accepted, for this reason.
  case refused(String)
  /// Ask again later; nil for when the server thinks fit.
  case later(String, seconds: Int64?)
}

/// What a service's answer means for the tokens of a request.
public struct VendorAnswer: Sendable, Equatable {
  /// For all tokens that are not in `exceptions`.
  public let outcome: VendorOutcome
  /// Tokens about which the service says something else.
  public let exceptions: [[UInt8]: VendorOutcome]

  /// Both.
  public init(_ outcome: VendorOutcome, exceptions: [[UInt8]: VendorOutcome] = [:]) {
    self.outcome = outcome
    self.exceptions = exceptions
  }

  /// For a token.
  public func outcome(for token: [UInt8]) -> VendorOutcome { exceptions[token] ?? outcome }
}

/// What a service's answer means for the push and the channel.
public enum VendorOutcome: Sendable, Equatable {
  /// The service took the push.
  case accepted
  /// The token is dead, for this reason of the service, and no wrong credential can be the cause: those get another answer.
  case dropDeadToken(String)
  /// The token is dead, for this reason of the service, or the credential is another app's. Said of a request for several tokens it
  /// costs none of them.
  case dropToken(String)
  /// The token belongs to another project, or the credential does: many of them mean the credential. Said of a request for several
  /// tokens it may be about one of them: smaller requests show which.
  case dropForeignToken(String)
  /// Token or content is wrong: the token, if the service took the same content for another device.
  case suspectToken(String)
  /// The token of access is not accepted: it is renewed, once for each request.
  case refreshAuthOnce(String)
  /// Try again after the seconds that the service asks for, or else by a schedule; with `rests` nothing of the app is sent until
  /// then.
  case retryAfter(RetrySchedule, seconds: Int64?, rests: Bool, String)
  /// Nothing can be sent before midnight in China, when quotas are counted anew.
  case stopUntilQuotaReset(String)
  /// No request for several devices can be sent before then: each device gets one of its own.
  case sendSinglyUntilQuotaReset(String)
  /// The service no longer knows what prepared the push: it is prepared again.
  case prepareAgain(String)
  /// The credential may not do this: nothing is sent until somebody has looked.
  case pauseAndTellOperator(String)
  /// The service does not take the content.
  case rejectContent(String)

  /// The device shows no notifications of the app: the token is good, and the user may turn them on again.
  public static let notificationsOff = rejectContent(ReceiptReason.notificationsOff.rawValue)
}
