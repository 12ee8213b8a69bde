import BorealisBase
import BorealisDevice
import BorealisProtocol
import Glibc

struct DeviceCommand: Command {
  static let name = "device"
  static let summary = "Acts as a device: registers, stays connected and prints what it receives."
  static let details = """
    Registers at its first start and stores the registration in the state file for later starts. It prints one line of
    JSON for each event, acknowledges pushes and reports notifications as shown. It prints each push once; if an earlier
    run was killed while it printed a push, once more, with "redelivered": true. It exits at SIGTERM, SIGINT or "quit".

    Commands on standard input, one per line, are answered by an event "result" or "invalid":

      alias set A | alias get | alias delete
      tags set T,... | tags add T,... | tags delete T,... | tags clean | tags get | tags check T
      badge N | token HEX [sandbox] | token none | voip HEX [sandbox] | voip none | foreground | background
      activity NAME HEX [sandbox] | activity NAME none | activity-start TYPE HEX [sandbox] | activity-start TYPE none
      channel-token CHANNEL TOKEN | channel-token CHANNEL none
      shown MSG_ID | tapped MSG_ID | apns PAYLOAD | apns PAYLOAD tapped | rotate-key
      stop | start | logout | quit

    "apns" passes a payload from APNs to the library and is answered by an event "apns": "present" says whether to show
    it.

      borealis device --server 127.0.0.1:8081 --plain --app-key KEY --state device.state --alias me
    """
  static let operands: [String] = []
  static let settings = [
    SettingDefinition(
      name: "server", valueName: "HOST:PORT", help: "The address of the server's device port.", kind: .address
    ),
    SettingDefinition(name: "plain", valueName: "", help: "Without TLS.", kind: .flag),
    SettingDefinition(
      name: "ca", valueName: "FILE", help: "Certificates to trust; the default is the system's.", kind: .text),
    SettingDefinition(
      name: "insecure", valueName: "",
      help: "Accepts any certificate. Do not use it in production: anybody can act as the server.",
      kind: .flag),
    SettingDefinition(name: "app-key", valueName: "KEY", help: "The app's key.", kind: .text),
    SettingDefinition(
      name: "state", valueName: "FILE",
      help:
        "The state file with the registration and received pushes; created if missing. For one process at a time.",
      kind: .text),
    SettingDefinition(
      name: "platform", valueName: "P", help: "The device's platform: ios, android, hmos or quickapp.",
      default: "android", kind: .choice(Platform.allCases.map(\.name))),
    SettingDefinition(
      name: "alias", valueName: "A", help: "Sets the alias. {n} is replaced by the device's number.",
      kind: .text),
    SettingDefinition(
      name: "tag", valueName: "T,...", help: "Adds these tags. {n} is replaced by the device's number.",
      kind: .list),
    SettingDefinition(
      name: "background", valueName: "", help: "Reports the app as in the background.", kind: .flag),
    SettingDefinition(
      name: "count", valueName: "N",
      help:
        "The number of devices, numbered from 0 in the member \"device\" of each line. A command is for all of them, "
        + "or with the prefix @NUMBER for one.",
      default: "1", kind: .number(1...100_000)),
    SettingDefinition(
      name: "encryption", valueName: "KIND",
      help: "Uses end-to-end encryption with a key of this kind: x25519, p256 or sm2.",
      kind: .choice(DeviceKeyKind.allCases.map(\.name))),
    SettingDefinition(
      name: "heartbeat", valueName: "SECONDS",
      help: "The heartbeat interval to request; 0 lets the server choose.",
      default: "0", kind: .number(0...65_535)),
    SettingDefinition(
      name: "until-input-ends", valueName: "", help: "Exits at the end of standard input.", kind: .flag),
  ]

  static func run(_ input: Input) throws(Failure) {
    let profile = try profile(input)
    guard let address = input.settings.address("server"), address.port > 0 else {
      throw .usage(input.settings.text("server") == nil ? "--server is missing" : "--server: the port is 0")
    }
    let state = try input.required("state")
    let security = try security(input.settings)
    let signals = try Signals()
    let fleet = DeviceFleet(
      server: ServerAddress(host: address.host, port: address.port), profile: profile,
      count: input.settings.number("count") ?? 1, store: DeviceStore(path: state),
      hub: DeviceHub(security: security), alias: input.settings.text("alias"),
      tags: input.settings.list("tag"))
    do throws(DeviceSetUpError) { try fleet.start() } catch { throw .failed(error.description) }
    InstructionInput.read(for: fleet, endsProgram: input.settings.flag("until-input-ends"))
    while signals.wait(milliseconds: -1) != .stop {}
    signals.restoreDefaults()
    fleet.close()
    if let reason = fleet.failure { throw .failed(reason) }
    // Without the handlers of `exit`, which tear down what other threads still use.
    _exit(0)
  }

  private static func profile(_ input: Input) throws(Failure) -> DeviceProfile {
    let text = try input.required("app-key")
    guard let key = AppKey(text) else {
      throw .usage("--app-key: expected 24 hexadecimal digits in lower case, not \"\(text)\"")
    }
    return DeviceProfile(
      appKey: key, platform: Platform(name: input.settings.text("platform") ?? "") ?? .android,
      appVersion: Program.version, clientName: "borealis-device/" + Program.version,
      heartbeat: UInt16(clamping: input.settings.number("heartbeat") ?? 0),
      appState: input.settings.flag("background") ? .background : .foreground,
      keyKind: input.settings.text("encryption").flatMap { DeviceKeyKind(name: $0) })
  }

  private static func security(_ settings: Settings) throws(Failure) -> TransportSecurity {
    let given = ["plain", "ca", "insecure"].filter { settings.text($0) ?? "false" != "false" }
    if given.count > 1 {
      throw .usage("--\(given[0]) and --\(given[1]) exclude each other: pass only one of them")
    }
    return switch given.first {
    case "plain": .plain
    case "insecure": .tlsUnverified
    default: .tls(caFile: settings.text("ca"))
    }
  }
}
