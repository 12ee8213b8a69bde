import BorealisBase
import Console

/// The identity provider with which people log in to the console.
struct SignOnSettings: Sendable {
  let options: SignOnOptions
  /// A file of certificates to trust in addition to the system's.
  let authorities: String?

  static let definitions = [
    SettingDefinition(
      name: "oidc-issuer", valueName: "URL",
      help:
        "The issuer of the OpenID Connect provider that people log in to the console with, exactly as the provider writes it.",
      kind: .text),
    SettingDefinition(
      name: "oidc-client-id", valueName: "ID", help: "The client ID of this server at the provider.",
      kind: .text),
    SettingDefinition(
      name: "oidc-client-secret", valueName: "TEXT", help: "The client secret.", kind: .secret),
    SettingDefinition(
      name: "oidc-name", valueName: "TEXT",
      help: "What the button on the login page calls the provider, such as \"Company account\".",
      default: "SSO", kind: .text),
    SettingDefinition(
      name: "oidc-scopes", valueName: "SCOPE,...",
      help: "The scopes to ask for; some providers have a scope of their own for groups.",
      default: "openid,email,profile", kind: .list),
    SettingDefinition(
      name: "oidc-role-claim", valueName: "NAME",
      help:
        "The claim whose values give roles, such as groups; dots lead to members of a claim, as in realm_access.roles.",
      kind: .text),
    SettingDefinition(
      name: "oidc-roles", valueName: "VALUE=ROLE,...",
      help:
        "The role that each value of the claim gives in the account \"default\", such as push-team=sender; VALUE=ROLE@DEVKEY for another account.",
      kind: .list),
    SettingDefinition(
      name: "oidc-trust-email", valueName: "",
      help:
        "Treat email addresses as verified when the provider does not say whether they are. Only if nobody can choose their own there.",
      kind: .flag),
    SettingDefinition(
      name: "oidc-ca", valueName: "FILE",
      help: "Certificates (PEM) to trust for the provider in addition to the system's.", kind: .text),
  ]

  /// Nil if there is no provider.
  static func read(_ settings: Settings, site: String?) throws(Failure) -> SignOnSettings? {
    guard let issuer = settings.text("oidc-issuer") else {
      for setting in definitions where setting.defaultValue == nil && settings.text(setting.name) != nil {
        throw .usage("--\(setting.name) needs --oidc-issuer")
      }
      return nil
    }
    guard SignOnOptions.isAddress(issuer), !issuer.contains("?") else {
      throw .usage("--oidc-issuer: \"\(issuer)\" is not a URL such as https://login.example.com")
    }
    guard let site else {
      throw .usage("--oidc-issuer needs --public-url: the provider sends browsers back there")
    }
    guard SignOnOptions.isAddress(site.lowercased()) else {
      throw .usage("--oidc-issuer needs a --public-url with https, such as https://push.example.com")
    }
    guard let id = settings.text("oidc-client-id"), let secret = settings.text("oidc-client-secret") else {
      throw .usage("--oidc-issuer needs --oidc-client-id and --oidc-client-secret")
    }
    var options = SignOnOptions(issuer: issuer, clientID: id, clientSecret: secret, site: site)
    if let name = settings.text("oidc-name") { options.name = name }
    options.scopes = settings.list("oidc-scopes")
    guard options.scopes.contains("openid"), options.scopes.allSatisfy(isScope) else {
      throw .usage("--oidc-scopes: give scopes separated by commas, openid among them")
    }
    (options.roleClaim, options.roles) = try roles(settings)
    options.trustsEmail = settings.flag("oidc-trust-email")
    return SignOnSettings(options: options, authorities: try ServeSettings.authorities(settings, "oidc-ca"))
  }

  private static func roles(
    _ settings: Settings
  ) throws(Failure) -> (claim: String?, rules: [RoleRule]) {
    let (claim, texts) = (settings.text("oidc-role-claim"), settings.list("oidc-roles"))
    guard (claim == nil) == texts.isEmpty else {
      throw .usage("--oidc-role-claim and --oidc-roles need each other")
    }
    var rules: [RoleRule] = []
    for text in texts {
      guard let rule = RoleRule(text) else {
        throw .usage(
          "--oidc-roles: \"\(text)\" is not VALUE=ROLE or VALUE=ROLE@DEVKEY with viewer, sender, admin or owner"
        )
      }
      rules.append(rule)
    }
    return (claim, rules)
  }

  /// RFC 6749, section 3.3.
  private static func isScope(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (33..<127).contains($0) && $0 != 34 && $0 != 92 }
  }
}
