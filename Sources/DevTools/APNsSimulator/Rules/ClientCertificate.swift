import BorealisCrypto

/// What the rules read from a client certificate.
struct ClientCertificate: Sendable, Equatable {
  /// The topics that it may push to.
  let topics: [HeaderValue]
  /// The environments that it names.
  let environments: Set<PushEnvironment>

  /// The topic of a push that names none.
  var defaultTopic: HeaderValue? { topics.count == 1 ? topics[0] : nil }

  init(topics: [String], environments: Set<PushEnvironment>) {
    self.topics = topics.map { Array($0.utf8)[...] }
    self.environments = environments
  }

  /// Reads a certificate as TLS carries it; one that Apple cannot have issued is good for nothing.
  init(der: [UInt8]) {
    guard let facts = try? CertificateFacts(der: der) else {
      self.init(topics: [], environments: [])
      return
    }
    var environments: Set<PushEnvironment> = []
    if facts.allowsProduction { environments.insert(.production) }
    if facts.allowsSandbox { environments.insert(.sandbox) }
    self.init(topics: facts.topics.map(\.name), environments: environments)
  }
}
