import BorealisBase

/// A subcommand.
protocol Command {
  /// One word, or two: `app create`.
  static var name: String { get }
  /// A phrase for the list of commands.
  static var summary: String { get }
  /// The text of `--help` beyond the summary and the options.
  static var details: String { get }
  /// Names of the arguments without a flag, in order; all are needed.
  static var operands: [String] { get }
  static var settings: [SettingDefinition] { get }

  static func run(_ input: Input) throws(Failure)
}

/// A command that a running server carries out, if there is one on the data folder: what it changes counts
/// when it has ended.
protocol ServedCommand: Command {
  /// Whether the server has to look at the database afterwards.
  static var changesDatabase: Bool { get }
}

extension ServedCommand {
  static var changesDatabase: Bool { true }
}

/// Why the program ends without having done its work.
struct Failure: Error {
  let message: String
  /// The exit status.
  let status: Int32

  /// The work could not be done.
  static func failed(_ message: String) -> Failure { Failure(message: message, status: 1) }
  /// The command line, a variable or the configuration file is wrong.
  static func usage(_ message: String) -> Failure { Failure(message: message, status: 2) }
}

/// What a subcommand was given.
struct Input {
  let operands: [String]
  let settings: Settings
  /// The folder of the server that carries the command out; nil for the command's own process.
  let served: DataFolder?

  /// A command of another process, in the server on a folder.
  init(_ command: any Command.Type, _ request: CommandRequest, in served: DataFolder) throws(Failure) {
    self.served = served
    operands = request.operands
    guard operands.count == command.operands.count else { throw .usage("wrong number of operands") }
    do throws(SettingsError) {
      settings = try Settings(
        command.settings, arguments: request.settings.map { "--\($0.name)=\($0.value)" }, environment: [:],
        file: nil, readFile: { _ in nil })
    } catch {
      throw .usage("the running server, version \(Program.version): \(error.description)")
    }
  }

  /// Sorts arguments into operands and flags and reads the settings. A command with a setting `config` may
  /// take more of them from the file that it names.
  init(_ command: any Command.Type, _ arguments: [String]) throws(Failure) {
    var operands: [String] = []
    var flags: [String] = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("--") else {
        operands.append(argument)
        continue
      }
      flags.append(argument)
      let name = argument.dropFirst(2)
      let isSwitch = command.settings.contains { $0.name == name && $0.kind == .flag }
      if !isSwitch, !argument.contains("="), let value = rest.popFirst() { flags.append(value) }
    }
    guard operands.count >= command.operands.count else {
      throw .usage(
        "\(command.operands[operands.count]) is missing; see \"borealis \(command.name) --help\"")
    }
    guard operands.count == command.operands.count else {
      throw .usage("unexpected argument \"\(operands[command.operands.count])\"")
    }
    self.operands = operands
    served = nil
    let file = try Self.file(command, flags)
    do throws(SettingsError) {
      settings = try Settings(
        command.settings, arguments: flags, environment: Self.environment(command.settings), file: file,
        readFile: SmallFiles.read)
    } catch {
      throw .usage(error.description)
    }
  }

  /// The variables that the settings may come from.
  private static func environment(_ definitions: [SettingDefinition]) -> [String: String] {
    var found: [String: String] = [:]
    for definition in definitions {
      for name in definition.variables { found[name] = SmallFiles.variable(name) }
    }
    return found
  }

  /// The configuration file: of all settings only this one is needed before the others are read.
  private static func file(
    _ command: any Command.Type, _ flags: [String]
  ) throws(Failure) -> (name: String, text: String)? {
    guard let config = command.settings.first(where: { $0.name == "config" }) else { return nil }
    var own: [String] = []
    for (index, flag) in flags.enumerated() {
      if flag.hasPrefix("--config=") { own = [flag] }
      if flag == "--config", index + 1 < flags.count { own = [flag, flags[index + 1]] }
    }
    let settings: Settings
    do throws(SettingsError) {
      settings = try Settings(
        [config], arguments: own, environment: environment([config]), file: nil, readFile: { _ in nil })
    } catch {
      throw .usage(error.description)
    }
    guard let name = settings.text("config") else { return nil }
    guard let text = SmallFiles.read(name) else { throw .usage("--config: cannot read \"\(name)\"") }
    return (name, text)
  }

  /// Whether arguments ask for help: as an argument of its own, not as the value of another.
  static func asksForHelp(_ command: any Command.Type, _ arguments: [String]) -> Bool {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--help" || argument == "-h" { return true }
      let setting = command.settings.first { argument == "--\($0.name)" }
      if let setting, setting.kind != .flag { rest = rest.dropFirst() }
    }
    return false
  }

  static func help(_ command: any Command.Type) -> String {
    let operands = command.operands.map { " \($0)" }.joined()
    let options = command.settings.isEmpty ? "" : " [options]"
    let text = command.details.isEmpty ? command.summary : command.details
    let usage = "borealis \(command.name)\(operands)\(options)"
    guard !command.settings.isEmpty else { return "usage: \(usage)\n\n\(text)\n" }
    return Settings.help(usage: usage, summary: text, command.settings)
  }

  /// A setting that there is no default for.
  func required(_ name: String) throws(Failure) -> String {
    guard let value = settings.text(name) else { throw .usage("--\(name) is missing") }
    return value
  }
}

struct VersionCommand: Command {
  static let name = "version"
  static let summary = "Prints the version."
  static let details = ""
  static let operands: [String] = []
  static let settings: [SettingDefinition] = []

  static func run(_ input: Input) { Terminal.print(Program.version) }
}
