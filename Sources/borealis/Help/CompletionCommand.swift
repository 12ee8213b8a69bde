import BorealisBase

struct CompletionCommand: Command {
  static let name = "completion"
  static let summary = "Prints the completion of commands and options for a shell."
  static let details = """
    Prints a script with which a shell completes the commands of borealis, their options and their values. The Debian package
    installs it. Otherwise, where the shell looks for completions:

      borealis completion bash > /usr/share/bash-completion/completions/borealis
      borealis completion zsh > /usr/local/share/zsh/site-functions/_borealis
      borealis completion fish > /etc/fish/completions/borealis.fish
    """
  static let operands = ["bash|zsh|fish"]
  static let settings: [SettingDefinition] = []

  static func run(_ input: Input) throws(Failure) {
    let names = CommandNames(Program.commands)
    switch input.operands[0] {
    case "bash": Terminal.print(BashCompletion.script(names))
    case "zsh": Terminal.print(ZshCompletion.script(names))
    case "fish": Terminal.print(FishCompletion.script(names))
    default: throw .usage("expected bash, zsh or fish, not \"\(input.operands[0])\"")
    }
  }
}
