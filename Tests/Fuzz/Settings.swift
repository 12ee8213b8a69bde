import BorealisBase

private let definitions = [
  SettingDefinition(name: "text", valueName: "TEXT", help: "Text.", kind: .text),
  SettingDefinition(name: "number", valueName: "N", help: "A number.", kind: .number(-5...64)),
  SettingDefinition(name: "address", valueName: "HOST:PORT", help: "An address.", kind: .address),
  SettingDefinition(name: "time", valueName: "TIME", help: "A duration.", kind: .duration),
  SettingDefinition(name: "size", valueName: "SIZE", help: "A size.", kind: .size),
  SettingDefinition(name: "flag", valueName: "", help: "A flag.", kind: .flag),
  SettingDefinition(name: "secret", valueName: "TEXT", help: "A secret.", kind: .secret),
]

/// The text of a configuration file, read too as command-line arguments, one a line, and as variables.
@Sendable func fuzzSettings(_ bytes: [UInt8]) {
  let text = String(decoding: bytes, as: UTF8.self)
  if let settings = read(file: text) {
    check(settings)
    // The file that says only what was read must be read alike.
    let lines = definitions.compactMap { definition in
      settings.text(definition.name).map { "\(definition.name) =\t\($0)\n" }
    }
    let again = read(file: lines.joined())
    for definition in definitions {
      check(again?.text(definition.name) == settings.text(definition.name), "a value can be written down")
    }
  }
  let arguments = text.utf8.split(separator: 10, omittingEmptySubsequences: false).map { String($0) ?? "" }
  if let settings = read(arguments: arguments) { check(settings) }
  for definition in definitions {
    guard let settings = read(environment: [definition.variable: text]) else { continue }
    check(settings)
    check(settings.text(definition.name) == text, "a variable is taken as it is")
  }
}

private func read(
  arguments: [String] = [], environment: [String: String] = [:], file: String = ""
) -> Settings? {
  try? Settings(
    definitions, arguments: arguments, environment: environment, file: ("borealis.conf", file),
    readFile: { $0 == "readable" ? "secret\n" : nil })
}

/// Every value that was accepted can be had in the form of its kind.
private func check(_ settings: Settings) {
  func has(_ name: String, _ value: Any?) {
    check((settings.text(name) == nil) == (value == nil), "an accepted value has its kind's form")
  }
  has("number", settings.number("number"))
  has("address", settings.address("address"))
  has("time", settings.milliseconds("time"))
  has("size", settings.bytes("size"))
  check(settings.text("text")?.isEmpty != true, "a text is not empty")
  check(settings.text("secret")?.isEmpty != true, "a secret is not empty")
  if let text = settings.text("address"), let address = settings.address("address") {
    let host = address.host.contains(":") ? "[\(address.host)]" : address.host
    check(HostPort("\(host):\(address.port)") == address, "an address can be written down")
    check(text.hasPrefix(host), "an address starts with its host")
  }
}
