import BorealisBase

struct ManCommand: Command {
  static let name = "man"
  static let summary = "Prints a manual page."
  static let details = """
    Prints the manual page of the program or that of its configuration file, as the Debian package installs them.

      borealis man borealis | man -l -
      borealis man borealis.conf | man -l -
    """
  static let operands = ["borealis|borealis.conf"]
  static let settings: [SettingDefinition] = []

  static func run(_ input: Input) throws(Failure) {
    switch input.operands[0] {
    case "borealis": Terminal.print(ManualPage.program(Program.commands))
    case "borealis.conf": Terminal.print(ManualPage.configuration(ServeCommand.settings))
    default: throw .usage("expected borealis or borealis.conf, not \"\(input.operands[0])\"")
    }
  }
}
