import BorealisBase

/// The completion for fish, with descriptions.
enum FishCompletion {
  static func script(_ names: CommandNames) -> String {
    var text = head
    for prefix in names.prefixes {
      for word in prefix.next {
        let summary = word.summary.isEmpty ? "" : " -d \(quoted(word.summary))"
        text +=
          "complete -c borealis -n \(quoted("__borealis_is \(prefix.name)")) -a \(word.text)\(summary)\n"
      }
    }
    for command in names.commands {
      let start = "complete -c borealis -n \(quoted("__borealis_in \(command.name)"))"
      for operand in command.operands { text += operandLine(start, CompletedValue(operand: operand)) }
      for setting in command.settings.flatMap(\.forms) {
        let value = setting.kind == .flag ? "" : " " + arguments(CompletedValue(setting))
        text += "\(start) -l \(setting.name)\(value) -d \(quoted(setting.help))\n"
      }
    }
    return text
  }

  private static func operandLine(_ start: String, _ value: CompletedValue) -> String {
    switch value {
    case .nothing: ""
    case .files: "\(start) -F\n"
    case .folders: "\(start) -a '(__fish_complete_directories)'\n"
    case .words(let words): "\(start) -a \(quoted(words.joined(separator: " ")))\n"
    }
  }

  private static func arguments(_ value: CompletedValue) -> String {
    switch value {
    case .nothing: "-x"
    case .files: "-r -F"
    case .folders: "-xa '(__fish_complete_directories)'"
    case .words(let words): "-xa \(quoted(words.joined(separator: " ")))"
    }
  }

  private static func quoted(_ text: String) -> String {
    "'\(text.replacing(#"\"#, with: #"\\"#).replacing("'", with: #"\'"#))'"
  }

  private static let head = #"""
    # Completion of borealis for fish, as "borealis completion fish" prints it.

    # Whether the words before the cursor are these.
    function __borealis_is
      set -l words (commandline -opc)
      test "$words[2..-1]" = "$argv"
    end

    # Whether the words before the cursor begin with the name of a command.
    function __borealis_in
      set -l words (commandline -opc)
      string match -q -- "$argv *" "$words[2..-1] "
    end

    complete -c borealis -f
    complete -c borealis -l help -d 'Explains the command.'

    """#
}
