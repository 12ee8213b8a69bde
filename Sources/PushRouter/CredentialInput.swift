import PushBase

/// A credential as somebody hands it in: a channel checks it and stores it sealed. Whoever passes it on knows neither its fields nor
/// what they mean.
public struct CredentialInput: Sendable {
  /// What kind of credential it is: a word that the channel has among its `credentialForms`.
  public let form: String
  /// The service that it is meant for, by its name in `ChannelInfo.services`; nil for what the credential itself says.
  public let service: String?
  /// What was handed in, by the names of fields: texts in UTF-8, and files.
  public let fields: [String: [UInt8]]

  /// All fields.
  public init(_ form: String, service: String? = nil, fields: [String: [UInt8]]) {
    self.form = form
    self.service = service
    self.fields = fields
  }

  /// Why credentials were not taken.
  public enum Refusal: Error, Sendable, Equatable {
    /// For this reason, which is for people.
    case refused(String)
    /// The store cannot take changes now; try again later.
    case unavailable
  }
}

extension PluggedChannels {
  /// Has the channel that takes a form check credentials and store them: all of them, or none. Reading them takes some time: not
  /// for a loop.
  public func install(
    _ inputs: [CredentialInput], of form: String, for app: App,
    reply: @escaping @Sendable (Result<Void, CredentialInput.Refusal>) -> Void
  ) {
    guard let taker = all.first(where: { $0.channel.credentialForms.contains(form) }) else {
      reply(.failure(.refused("The server has no channel for it")))
      return
    }
    taker.channel.install(inputs, for: app, reply: reply)
  }
}
