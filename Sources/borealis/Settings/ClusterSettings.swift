import BorealisBase
import BorealisNet
import Cluster
import Glibc

/// The settings of a node of a cluster.
struct ClusterSettings {
  let bus: BusSettings
  let cluster: ClusterName
  /// Where other nodes reach this one.
  let address: HostPort
  let name: String
  /// Whether each app has a home of its own.
  let spreadsApps: Bool
  let tls: NodeTLS?
  /// Where devices reach this node and no other, as they are told; empty if there is no such address.
  let deviceAddress: String

  static let definitions = [
    SettingDefinition(
      name: "bus", valueName: "URL",
      help:
        "Servers of NATS, such as nats://n1.example.com,n2.example.com: makes the server a node of a cluster.",
      kind: .secret),
    SettingDefinition(
      name: "cluster", valueName: "NAME", help: "The name of the cluster; the default is borealis.",
      kind: .text),
    SettingDefinition(
      name: "node", valueName: "HOST:PORT", help: "The address at which other nodes reach this one.",
      kind: .address),
    SettingDefinition(
      name: "node-name", valueName: "NAME", help: "The name of this node; the default is the host name.",
      kind: .text),
    SettingDefinition(
      name: "device-address", valueName: "HOST:PORT",
      help:
        "Where devices reach this node and no other: told to devices of a node that ends. None if not given.",
      kind: .address),
    SettingDefinition(
      name: "spread-apps", valueName: "",
      help:
        "Give each app a home of its own among the nodes; with --spread-apps=false one node is the home of all apps.",
      kind: .flag),
    SettingDefinition(
      name: "node-ca", valueName: "FILE",
      help: "The authority (PEM) of the nodes' certificates, which nodes show one another.", kind: .text),
    SettingDefinition(
      name: "node-certificate", valueName: "FILE",
      help: "This node's certificate chain, PEM, for its name and for servers and clients.", kind: .text),
    SettingDefinition(
      name: "node-key", valueName: "FILE", help: "The certificate's private key, PEM, not encrypted.",
      kind: .text),
  ]

  /// Nil for a server that is alone.
  init?(_ settings: Settings, isOnPostgres: Bool) throws(Failure) {
    guard let url = settings.text("bus") else {
      for definition in Self.definitions where settings.text(definition.name) != nil {
        throw .usage("--\(definition.name) is for nodes of a cluster: give --bus, too")
      }
      return nil
    }
    guard isOnPostgres else {
      throw .usage("--bus needs a database that nodes can share: give --store postgres://...")
    }
    do throws(BusSettings.Problem) { bus = try BusSettings(url) } catch {
      throw .usage("--bus: \(Self.text(error))")
    }
    guard let cluster = ClusterName(settings.text("cluster") ?? "borealis") else {
      throw .usage("--cluster: expected at most 32 small letters, digits, - and _")
    }
    self.cluster = cluster
    guard let address = settings.address("node") else {
      throw .usage("--bus needs --node HOST:PORT, the address at which other nodes reach this one")
    }
    guard !["0.0.0.0", "::"].contains(address.host) else {
      throw .usage("--node: other nodes cannot reach this one at \(address.host); give its own address")
    }
    self.address = address
    name = settings.text("node-name") ?? Self.hostName
    guard (1...63).contains(name.utf8.count), name.utf8.allSatisfy(Self.isNameByte) else {
      throw .usage("--node-name: \"\(name)\" is not a name of at most 63 letters, digits, dots and hyphens")
    }
    deviceAddress = try Self.deviceAddress(settings)
    spreadsApps = settings.text("spread-apps") != "false"
    tls = try Self.tls(settings)
    if let tls {
      do throws(NodeTLS.Refusal) { try tls.check(as: name) } catch {
        throw .usage("--node-certificate: other nodes would refuse this one: \(error.reason)")
      }
    }
    let place = NodeAddress(name: name, host: address.host, port: address.port)
    guard tls != nil || place.isLoopback else {
      throw .usage(
        "--node: without --node-ca, --node-certificate and --node-key only addresses of this machine are safe, such as 127.0.0.1:9000"
      )
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func deviceAddress(_ settings: Settings) throws(Failure) -> String {
    guard let address = settings.address("device-address") else { return "" }
    guard !["0.0.0.0", "::"].contains(address.host), address.port > 0, address.host.utf8.count <= 200 else {
      throw .usage("--device-address: devices cannot reach this node there; give its own name and port")
    }
    let host = address.host.contains(":") ? "[\(address.host)]" : address.host
    return "\(host):\(address.port)"
  }

  private static var hostName: String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func tls(_ settings: Settings) throws(Failure) -> NodeTLS? {
    let files = ["node-ca", "node-certificate", "node-key"].map { settings.text($0) }
    guard files.contains(where: { $0 != nil }) else { return nil }
    guard let authority = files[0], let certificate = files[1], let key = files[2] else {
      throw .usage("--node-ca, --node-certificate and --node-key belong together")
    }
    do throws(TLSError) {
      return try NodeTLS(authority: authority, certificate: certificate, key: key)
    } catch {
      throw .usage("--node-certificate: \(error)")
    }
  }

  private static func text(_ problem: BusSettings.Problem) -> String {
    switch problem {
    case .scheme: "expected a URL such as nats://n1.example.com,n2.example.com or tls://n1.example.com"
    case .host: "a host or a port is malformed"
    case .credentials:
      "a user name or a password is malformed; a password has %40 for @, %2F for /, %3F for ?"
    case .option: "an option is not known, given twice or empty"
    case .certificates: "ca, cert and key are for tls://, and cert and key belong together"
    }
  }
}
