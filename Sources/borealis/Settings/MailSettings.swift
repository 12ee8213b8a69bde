import BorealisBase
import Console

/// The settings of mail, which the server and `borealis mail test` share.
struct MailSettings: Sendable {
  /// Nil if no mail is sent.
  let server: MailServer?
  /// Where people find the console, without a slash at the end: what mails link to. Links are never made of
  /// what a browser says about the address, or anybody could send people elsewhere.
  let site: String?

  static let definitions = [
    SettingDefinition(
      name: "public-url", valueName: "URL",
      help:
        "The URL of the console, such as https://push.example.com: for links in mail, and to recognize its own pages.",
      kind: .text),
    SettingDefinition(
      name: "smtp-url", valueName: "URL",
      help:
        "The server for mail: smtp://HOST:PORT with STARTTLS, or smtps://HOST:PORT. No mail if not given.",
      kind: .text),
    SettingDefinition(
      name: "smtp-from", valueName: "ADDRESS",
      help:
        "The sender address of outgoing mail, such as push@example.com or \"Borealis <push@example.com>\".",
      kind: .text),
    SettingDefinition(
      name: "smtp-user", valueName: "NAME", help: "The user name for the mail server, if it requires one.",
      kind: .text),
    SettingDefinition(
      name: "smtp-password", valueName: "TEXT", help: "The password for the mail server.", kind: .secret),
    SettingDefinition(
      name: "smtp-tls", valueName: "WHEN",
      help: "Whether smtp:// must change to TLS: always, offered (if the server can) or never.",
      default: "always", kind: .choice(["always", "offered", "never"])),
    SettingDefinition(
      name: "smtp-ca", valueName: "FILE",
      help: "Certificates (PEM) to trust for mail in addition to the system's.", kind: .text),
  ]

  init(_ settings: Settings) throws(Failure) {
    site = try Self.site(settings)
    server = try Self.server(settings, site: site)
  }

  /// The address in `public-url`, without a slash at the end; nil if it is not given.
  static func site(_ settings: Settings) throws(Failure) -> String? {
    guard var url = settings.text("public-url") else { return nil }
    while url.hasSuffix("/") { url.removeLast() }
    let lower = url.lowercased()
    let host =
      lower.hasPrefix("https://") ? lower.dropFirst(8) : lower.hasPrefix("http://") ? lower.dropFirst(7) : ""
    guard !host.isEmpty, url.utf8.count <= 200,
      host.utf8.allSatisfy({ $0 > 32 && $0 < 127 && !Array("/?#@\"<>\\".utf8).contains($0) })
    else { throw .usage("--public-url: \"\(url)\" is not an address such as https://push.example.com") }
    return url
  }

  private static func server(_ settings: Settings, site: String?) throws(Failure) -> MailServer? {
    guard let url = settings.text("smtp-url") else {
      for name in ["smtp-from", "smtp-user", "smtp-password", "smtp-ca"] where settings.text(name) != nil {
        throw .usage("--\(name) needs --smtp-url")
      }
      return nil
    }
    guard site != nil else { throw .usage("--smtp-url needs --public-url: mails link to the console") }
    guard let text = settings.text("smtp-from") else { throw .usage("--smtp-url needs --smtp-from") }
    guard let from = MailAddress(text) else {
      throw .usage("--smtp-from: \"\(text)\" is not an address such as push@example.com")
    }
    guard var server = MailServer(url: url, from: from) else {
      throw .usage("--smtp-url: \"\(url)\" is not an address such as smtp://mail.example.com:587")
    }
    switch settings.text("smtp-tls") {
    case "never": server.encryption = .never
    case "offered": server.encryption = .ifOffered
    default: server.encryption = .always
    }
    server.authorities = try ServeSettings.authorities(settings, "smtp-ca")
    server.login = try login(settings)
    guard server.login == nil || server.isPrivate else {
      throw .usage("--smtp-user needs --smtp-tls always: otherwise the password could be read on the network")
    }
    return server
  }

  private static func login(_ settings: Settings) throws(Failure) -> (user: String, password: String)? {
    switch (settings.text("smtp-user"), settings.text("smtp-password")) {
    case (let user?, let password?): return (user, password)
    case (nil, nil): return nil
    case (_, nil): throw .usage("--smtp-user needs --smtp-password")
    case (nil, _): throw .usage("--smtp-password needs --smtp-user")
    }
  }
}
