import BorealisBase

/// What an identity provider publishes about itself (OpenID Connect Discovery 1.0, section 3), as far as it
/// is used.
struct ProviderDocument: Sendable, Equatable {
  /// How the server proves to the token endpoint who it is (OpenID Connect Core 1.0, section 9).
  enum ClientAuthentication: String, Sendable {
    case basic = "client_secret_basic"
    case post = "client_secret_post"
  }

  let authorizationEndpoint: String
  let tokenEndpoint: String
  let userInfoEndpoint: String?
  let clientAuthentication: ClientAuthentication
  /// Whether answers to the browser name their issuer (RFC 9207).
  let namesIssuer: Bool

  /// Where the document of an issuer is (section 4).
  static func address(of issuer: String) -> String {
    "\(issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer)/.well-known/openid-configuration"
  }

  /// Reads the document of an issuer. The error says what is wrong with it.
  init(_ document: JSONValue, of issuer: String) throws(SignOnFailure) {
    guard let named = document["issuer"]?.string, named.hasSameBytes(as: issuer) else {
      throw .provider("its configuration is of another issuer")
    }
    let isPlain = issuer.hasPrefix("http:")
    func address(_ name: String) throws(SignOnFailure) -> String? {
      guard let value = document[name], !value.isNull else { return nil }
      guard let url = value.string, SignOnOptions.isAddress(url, allowsPlain: isPlain) else {
        throw .provider("\(name) in its configuration is not a valid URL")
      }
      return url
    }
    guard let authorization = try address("authorization_endpoint"), let token = try address("token_endpoint")
    else { throw .provider("its configuration lacks authorization_endpoint or token_endpoint") }
    (authorizationEndpoint, tokenEndpoint) = (authorization, token)
    userInfoEndpoint = try address("userinfo_endpoint")
    // The default of section 3.
    let methods =
      document["token_endpoint_auth_methods_supported"]?.array?.compactMap(\.string) ?? [
        "client_secret_basic"
      ]
    guard
      let method = [ClientAuthentication.basic, .post].first(where: { methods.contains($0.rawValue) })
    else { throw .provider("it offers neither client_secret_basic nor client_secret_post") }
    clientAuthentication = method
    namesIssuer = document["authorization_response_iss_parameter_supported"]?.bool ?? false
  }
}

/// Why the provider did not say who somebody is.
enum SignOnFailure: Error, Equatable {
  /// It is unreachable or at fault; the reason is for the log.
  case provider(String)
  /// It does not know the code, which was used or has expired.
  case codeRefused
}
