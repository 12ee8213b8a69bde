import BorealisBase
import BorealisCrypto

/// The simulator's settings, for the program of its own and for the subcommand of `borealis`.
package enum SimulatorSettings {
  /// All settings with their help.
  package static let definitions = [
    SettingDefinition(
      name: "listen", valueName: "HOST:PORT", help: "The address for providers.", default: "127.0.0.1:2197",
      kind: .address),
    SettingDefinition(
      name: "control", valueName: "HOST:PORT", help: "The address of the control API; off by default.",
      kind: .address),
    SettingDefinition(
      name: "control-anywhere", valueName: "",
      help: "Allows the control API, which has no authentication, on addresses other than this machine's.",
      kind: .flag),
    SettingDefinition(
      name: "data", valueName: "DIR",
      help:
        "The folder of the certificates and demo credentials, which are created if missing. By default a temporary "
        + "folder that is removed at the end.", kind: .text),
    SettingDefinition(
      name: "sandbox", valueName: "", help: "Simulates the sandbox instead of production.",
      kind: .flag),
    SettingDefinition(
      name: "streams", valueName: "N", help: "Concurrent streams after the first authenticated request.",
      default: "1000", kind: .number(1...100_000)),
    SettingDefinition(
      name: "lenient", valueName: "", help: "Accepts provider tokens of unknown keys.", kind: .flag),
    SettingDefinition(
      name: "key", valueName: "KEY_ID:TEAM_ID:FILE",
      help: "An additional key: its .p8 file or its public key.", kind: .list),
    SettingDefinition(
      name: "topic", valueName: "BUNDLE_ID",
      help: "The bundle IDs that exist, separated by commas; any by default.", kind: .list),
    SettingDefinition(
      name: "only-registered", valueName: "",
      help: "Refuses device tokens that were not set with the control API.", kind: .flag),
    SettingDefinition(
      name: "any-token-length", valueName: "",
      help: "Accepts device tokens of 32 to 100 bytes, not only of 32.",
      kind: .flag),
    SettingDefinition(
      name: "strict-content", valueName: "",
      help: "Refuses payloads whose content does not fit the push type, which APNs accepts silently.",
      kind: .flag),
    SettingDefinition(
      name: "clock-factor", valueName: "N",
      help:
        "Makes the hour of a provider token and the 20 minutes between two of them N times shorter.",
      default: "1", kind: .number(1...3600)),
    SettingDefinition(
      name: "certificate", valueName: "FILE", help: "A server certificate to use instead of the one in DIR.",
      kind: .text),
    SettingDefinition(
      name: "certificate-key", valueName: "FILE", help: "Its private key.", kind: .text),
    SettingDefinition(
      name: "name", valueName: "HOST",
      help: "Additional names and addresses for the server certificate when it is created.", kind: .list),
    SettingDefinition(
      name: "keep", valueName: "N", help: "How many requests the log of the control API holds.",
      default: "10000", kind: .number(1...1_000_000)),
    SettingDefinition(name: "quiet", valueName: "", help: "Prints no line for each request.", kind: .flag),
  ]

  /// The rules that the settings ask for, with the demo key known.
  static func rules(_ settings: Settings, demoKey: ES256Key) throws(ToolFailure) -> APNsRules {
    var rules = APNsRules()
    rules.acceptsAnyTokenLength = settings.flag("any-token-length")
    rules.refusesContent = settings.flag("strict-content")
    rules.tokens.onlyRegistered = settings.flag("only-registered")
    let bundles = settings.list("topic")
    if !bundles.isEmpty { rules.bundles = bundles.map { Array($0.utf8)[...] } }
    rules.providerTokens.environment = settings.flag("sandbox") ? .sandbox : .production
    rules.providerTokens.acceptsUnknownKeys = settings.flag("lenient")
    rules.providerTokens.clockFactor = Int64(settings.number("clock-factor") ?? 1)
    do throws(CryptoError) {
      rules.providerTokens.add(
        ProviderKey(
          keyID: DemoFiles.keyID, teamID: DemoFiles.teamID,
          publicKey: try ES256PublicKey(pem: try demoKey.publicKeyPEM())))
    } catch {
      throw .failed("the demo key cannot be used: \(error)")
    }
    for text in settings.list("key") { rules.providerTokens.add(try key(text)) }
    return rules
  }

  private static func key(_ text: String) throws(ToolFailure) -> ProviderKey {
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map { String($0) }
    guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else {
      throw .usage("--key: expected KEY_ID:TEAM_ID:FILE, not \"\(text)\"")
    }
    guard let pem = FileAccess.read(parts[2]) else { throw .failed("--key: cannot read \(parts[2])") }
    do throws(CryptoError) {
      return ProviderKey(
        keyID: parts[0], teamID: parts[1],
        publicKey: try ES256PublicKey(pem: String(decoding: pem, as: UTF8.self)))
    } catch {
      throw .failed("--key: \(parts[2]) holds no key that can be used: \(error)")
    }
  }
}
