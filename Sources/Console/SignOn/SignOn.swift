import BorealisBase
import HTTP
import Storage
import Synchronization

/// Logging in with the identity provider: from the button to the session.
struct SignOn: Sendable {
  /// Why somebody is not let in.
  enum Refusal: Error, Sendable, Equatable {
    /// The answer does not belong to this browser, came too late, or was used.
    case ended
    /// The provider did not let the person in; its word for the reason.
    case declined(String)
    /// The provider does not answer, or not as it should.
    case provider
    /// The database does not answer.
    case unavailable
    /// Seconds until the next attempt.
    case tooMany(seconds: Int)
    /// What turned out of the person.
    case person(SignOns.Outcome)

    /// Whether the provider has said who it is about.
    var isOfPerson: Bool { if case .person = self { true } else { false } }

    /// What the log calls it.
    var kind: String {
      switch self {
      case .ended: "answer not valid"
      case .declined: "declined by the provider"
      case .provider: "provider failed"
      case .unavailable, .person(.begun): "database failed"
      case .tooMany: "too many attempts"
      case .person(.noAddress): "no verified address"
      case .person(.noRole): "no role"
      case .person(.otherIdentity): "address of another identity"
      case .person(.disabled): "person turned off"
      }
    }
  }

  /// The browser's answer from the provider.
  struct Answer: Sendable {
    let code, state, issuer, error: String?
  }

  let provider: SignOnProvider
  let signOns: SignOns
  let people: People

  var options: SignOnOptions { provider.options }

  /// Logs whom the settings give roles in accounts that do not exist.
  func checkRoles() async {
    let keys = Set(options.roles.compactMap(\.account))
    guard !keys.isEmpty, case .success(let unknown) = await signOns.unknownAccounts(among: keys) else {
      return
    }
    for key in unknown {
      provider.log.warning("no account has the developer key in oidc-roles", ["key": .text(key.text)])
    }
  }

  /// Begins a login that leads to a page: where to send the browser, and what it keeps meanwhile.
  func start(to place: String?) async -> Result<(url: String, ticket: SignOnTicket), Refusal> {
    guard let signer = await people.browsers() else { return .failure(.unavailable) }
    switch await provider.document() {
    case .failure(let failure): return .failure(refusal(failure))
    case .success(let document):
      let ticket = SignOnTicket(to: place, key: Self.key(signer), at: people.time.now())
      return .success((provider.address(document, ticket), ticket))
    }
  }

  /// Takes the answer that a browser brings back with the cookie of its ticket, and begins the session.
  /// Returns the page to go to, nil for the first one, and the cookie of a known browser.
  func finish(
    _ answer: Answer, cookie: String, language: Language, _ new: Sessions.New
  ) async -> Result<(place: String?, browser: String), Refusal> {
    guard let signer = await people.browsers() else { return .failure(.unavailable) }
    guard let ticket = SignOnTicket(cookie: cookie, key: Self.key(signer), at: people.time.now()),
      ticket.hasState(answer.state)
    else { return .failure(.ended) }
    let network = IPAddress(new.address)?.network.text ?? ""
    let keys = [LoginThrottle.Key.network("sign-on \(network)")]
    if case .tooMany(let seconds)? = people.count(keys).refusal {
      return .failure(.tooMany(seconds: seconds))
    }
    let result = await claims(answer, ticket)
    // Codes that the provider refuses count, so that nobody has it asked about many.
    if case .failure(.ended) = result { return .failure(.ended) }
    people.throttle.withLock { $0.refund(keys) }
    switch result {
    case .failure(let refusal): return .failure(refusal)
    case .success(let claims):
      return await begin(new, claims, language).map {
        (place: ticket.place, browser: signer.cookie(for: $0))
      }
    }
  }

  private func claims(_ answer: Answer, _ ticket: SignOnTicket) async -> Result<IdentityClaims, Refusal> {
    let document: ProviderDocument
    switch await provider.document() {
    case .failure(let failure): return .failure(refusal(failure))
    case .success(let known): document = known
    }
    // Before anything else that it says: it may be another provider's (RFC 9207, section 2.4).
    guard answer.issuer.map({ $0.hasSameBytes(as: options.issuer) }) ?? !document.namesIssuer else {
      return .failure(refusal(.provider("the browser brought the answer of another issuer")))
    }
    if let error = answer.error {
      return .failure(.declined(String(error.prefix(60)).filter { $0.isASCII && ($0.isLetter || $0 == "_") }))
    }
    guard let code = answer.code, (1...4096).contains(code.utf8.count) else { return .failure(.ended) }
    return await provider.claims(code: code, ticket, document).mapError(refusal)
  }

  /// Begins the session, and returns the person's address.
  private func begin(
    _ new: Sessions.New, _ claims: IdentityClaims, _ language: Language
  ) async -> Result<String, Refusal> {
    let identity = SignOns.Identity(
      issuer: options.issuer, subject: claims.subject, email: claims.email, name: claims.name,
      language: language.rawValue, roles: claims.roles)
    switch await signOns.begin(identity, new) {
    case .failure: return .failure(.unavailable)
    case .success(.begun(let email)): return .success(email)
    case .success(let outcome): return .failure(.person(outcome))
    }
  }

  /// What signs tickets.
  private static func key(_ signer: BrowserSigner) -> [UInt8] { signer.key(for: "sign-on") }

  private func refusal(_ failure: SignOnFailure) -> Refusal {
    switch failure {
    case .codeRefused: return .ended
    case .provider(let reason):
      provider.note(reason)
      return .provider
    }
  }
}
