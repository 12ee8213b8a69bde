import BorealisBase

/// Picks the subcommand and turns what it throws into one line and an exit status.
enum Program {
  static let version = "0.9.0"

  static var commands: [any Command.Type] {
    [
      ServeCommand.self,
      UpgradeCommand.self,
      TopCommand.self,
      StatusCommand.self,
      InitCommand.self,
      PushCommand.self,
      DeviceCommand.self,
      RegistrationDeleteCommand.self,
      AppCreateCommand.self,
      AppListCommand.self,
      AppSecretCommand.self,
      AppRotateCommand.self,
      AppRetireCommand.self,
      AppDisableCommand.self,
      AppEnableCommand.self,
      AppDeleteCommand.self,
      AppPlanCommand.self,
      AppAllowCommand.self,
      AppSealCommand.self,
      AppImportedCommand.self,
      AppChannelSetCommand.self,
      AppChannelListCommand.self,
      AppChannelRemoveCommand.self,
      AppChannelPauseCommand.self,
      AppChannelResumeCommand.self,
      AppGetuiSetCommand.self,
      AppGetuiRemoveCommand.self,
      AppCallbackSetCommand.self,
      AppCallbackShowCommand.self,
      AppCallbackRotateCommand.self,
      AppCallbackRemoveCommand.self,
      AccountCreateCommand.self,
      AccountListCommand.self,
      AccountRotateCommand.self,
      AccountDisableCommand.self,
      AccountEnableCommand.self,
      PlanSetCommand.self,
      PlanListCommand.self,
      PersonListCommand.self,
      PersonResetCommand.self,
      PrivacyCommand.self,
      MetricsListCommand.self,
      MetricsRulesCommand.self,
      MetricsDashboardCommand.self,
      MailTestCommand.self,
      ImportCommand.self,
      GroupCreateCommand.self,
      GroupListCommand.self,
      GroupAddCommand.self,
      GroupRemoveCommand.self,
      GroupDeleteCommand.self,
      NodeListCommand.self,
      NodeStatusCommand.self,
      NodeDrainCommand.self,
      ResealCommand.self,
      BackupCommand.self,
      CopyCommand.self,
      CheckCommand.self,
      HealthCommand.self,
      CompletionCommand.self,
      ManCommand.self,
      VersionCommand.self,
    ]
  }

  /// Runs what the arguments (without the program's name) ask for and returns the exit status: 0 for success,
  /// 1 for a failure, 2 for wrong usage.
  static func run(_ arguments: [String]) -> Int32 {
    status { () throws(Failure) in try dispatch(arguments) }
  }

  /// Runs a command of another process in the server on a folder, and returns its exit status.
  static func run(_ request: CommandRequest, in served: DataFolder) -> Int32 {
    status { () throws(Failure) in
      guard let command = named(request.command) else {
        throw .usage("the running server, version \(version), does not know \"borealis \(request.command)\"")
      }
      let input = try Input(command, request, in: served)
      defer { if command.changesDatabase { served.learnChanges() } }
      try command.run(input)
      return 0
    }
  }

  /// The command of a name that a server carries out.
  static func named(_ name: String) -> (any ServedCommand.Type)? {
    commands.lazy.compactMap { $0 as? any ServedCommand.Type }.first { $0.name == name }
  }

  private static func status(_ body: () throws(Failure) -> Int32) -> Int32 {
    do throws(Failure) { return try body() } catch {
      Terminal.complain("borealis: \(error.message)")
      return error.status
    }
  }

  private static func dispatch(_ arguments: [String]) throws(Failure) -> Int32 {
    guard let first = arguments.first else {
      Terminal.complain(help)
      throw .usage("a command is missing")
    }
    if first == "--version" {
      Terminal.print(version)
      return 0
    }
    if ["--help", "-h", "help"].contains(first) {
      Terminal.print(help)
      return 0
    }
    for command in commands {
      let words = command.name.split(separator: " ").map(String.init)
      guard arguments.starts(with: words) else { continue }
      let rest = Array(arguments.dropFirst(words.count))
      if Input.asksForHelp(command, rest) {
        Terminal.print(Input.help(command))
      } else {
        let input = try Input(command, rest)
        // A server says it in its log.
        if command != ServeCommand.self { complainOfStrayVariables() }
        if let served = command as? any ServedCommand.Type,
          let status = try CommandClient.run(served, input)
        {
          return status
        }
        try command.run(input)
      }
      return 0
    }
    let group = commands.filter { $0.name.hasPrefix(first + " ") }
    guard group.isEmpty else {
      if arguments.dropFirst().contains("--help") || arguments.dropFirst().contains("-h") {
        Terminal.print(group.map { Input.help($0) }.joined(separator: "\n"))
        return 0
      }
      let names = group.map { "\"borealis \($0.name)\"" }.joined(separator: " or ")
      throw .usage("expected \(names)")
    }
    throw .usage("unknown command \"\(first)\"; \"borealis --help\" lists them")
  }

  /// Variables of the environment that no command reads, though they look as if one did.
  static var strayVariables: [StrayVariable] {
    StrayVariable.all(in: SmallFiles.variableNames, commands.flatMap { $0.settings })
  }

  /// Says them on standard error.
  static func complainOfStrayVariables() {
    for variable in strayVariables {
      let near = variable.near.map { "; did you mean \($0)?" } ?? ""
      Terminal.complain("borealis: unknown environment variable \(variable.name)\(near)")
    }
  }

  static var help: String {
    var text = "Borealis is a self-hosted push notification server.\n\n"
    text += "usage: borealis COMMAND [options]\n\n"
    let width = (commands.map { $0.name.count }.max() ?? 0) + 2
    for command in commands {
      let padding = String(repeating: " ", count: width - command.name.count)
      text += "  \(command.name)\(padding)\(command.summary)\n"
    }
    text += """

      First steps:

        borealis serve --data ./data --http 127.0.0.1:8080 --device-plain 127.0.0.1:8081
        borealis app create "My app" --data ./data

      The first command goes on running and prints its addresses as a line of JSON when it is ready.
      The second one, in another shell, prints the app's key and master secret.

      "borealis COMMAND --help" explains a command.
      """
    return text
  }
}
