import BorealisBase

/// The completion for zsh, with descriptions.
enum ZshCompletion {
  static func script(_ names: CommandNames) -> String {
    var text = head
    for prefix in names.prefixes {
      text += "    '\(prefix.name)')\n      next=(\n"
      for word in prefix.next {
        let summary = word.summary.isEmpty ? "" : ":" + word.summary
        text += "        \(quoted(word.text + summary))\n"
      }
      text += "      ) ;;\n"
    }
    text += middle
    for command in names.commands {
      text += "    '\(command.name)')\n      specs=(\n"
      for (index, operand) in command.operands.enumerated() {
        text += "        \(quoted("\(index + 1):" + action(operand, CompletedValue(operand: operand))))\n"
      }
      for setting in command.settings.flatMap(\.forms) { text += "        \(quoted(option(setting)))\n" }
      text += "      ) ;;\n"
    }
    return text + tail
  }

  private static func option(_ setting: SettingDefinition) -> String {
    let description = escaped(setting.help, "[]")
    guard setting.kind != .flag else { return "--\(setting.name)[\(description)]" }
    let repeats = setting.kind == .list ? "*" : ""
    let value = action(setting.valueName, CompletedValue(setting))
    return "\(repeats)--\(setting.name)=[\(description)]:\(value)"
  }

  /// A message for people and what completes the value.
  private static func action(_ name: String, _ value: CompletedValue) -> String {
    let message = escaped(name, ":")
    return switch value {
    case .nothing: message + ": "
    case .files: message + ":_files"
    case .folders: message + ":_files -/"
    case .words(let words): message + ":(\(words.joined(separator: " ")))"
    }
  }

  private static func escaped(_ text: String, _ special: String) -> String {
    text.map { special.contains($0) || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
  }

  private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: #"'\''"#))'" }

  private static let head = #"""
    #compdef borealis
    # Completion of borealis for zsh, as "borealis completion zsh" prints it.

    # What may follow the words of a command's name.
    _borealis_next() { # NAME
      next=()
      case $1 in

    """#

  private static let middle = #"""
      esac
    }

    # The operands and options of a command.
    _borealis_specs() { # NAME
      specs=()
      case $1 in

    """#

  private static let tail = #"""
      esac
    }

    _borealis() {
      local name=
      local -a next specs
      local -i used=1
      while _borealis_next "$name"; (( $#next )); do
        if (( CURRENT == used + 1 )); then
          _describe -t commands 'command of borealis' next
          return
        fi
        (( used += 1 ))
        name+=${name:+ }$words[used]
      done
      _borealis_specs "$name"
      shift $(( used - 1 )) words
      (( CURRENT -= used - 1 ))
      _arguments -S : '--help[Explains the command.]' $specs
    }

    _borealis "$@"
    """#
}
