import BorealisBase

/// The completion for bash 4.3 and later. It needs no function of the package bash-completion.
enum BashCompletion {
  static func script(_ names: CommandNames) -> String {
    var cases = names.prefixes.map { prefix in
      "    '\(prefix.name)') next=(\(prefix.next.map(\.text).joined(separator: " "))) ;;\n"
    }
    cases += names.commands.map { command in
      let operands = command.operands.map { word(CompletedValue(operand: $0)) }.joined(separator: " ")
      let options = command.settings.flatMap(\.forms).map(option).joined(separator: " ")
      return "    '\(command.name)') operands=(\(operands)) options=(\(options)) ;;\n"
    }
    return head + cases.joined() + tail
  }

  private static func option(_ setting: SettingDefinition) -> String {
    setting.kind == .flag ? "--\(setting.name)" : "--\(setting.name)=" + word(CompletedValue(setting))
  }

  private static func word(_ value: CompletedValue) -> String {
    switch value {
    case .nothing: "TEXT"
    case .files: "FILE"
    case .folders: "DIR"
    case .words(let words): "'\(words.joined(separator: "|"))'"
    }
  }

  private static let head = #"""
    # Completion of borealis for bash, as "borealis completion bash" prints it.

    # What may follow the words NAME of a command. A value is FILE, DIR, words separated by |, or TEXT for any other.
    _borealis_after() { # NAME
      next=() operands=() options=()
      case $1 in

    """#

  private static let tail = #"""
      esac
      options+=(--help)
    }

    # Sets `value` to the value that an option needs; empty if it needs none.
    _borealis_value() { # OPTION
      local option
      value=
      for option in "${options[@]}"; do
        [[ $option != "$1="* ]] || value=${option#*=}
      done
    }

    _borealis_offer() { # VALUE BEGINNING
      case $1 in
        FILE) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
        DIR) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
        TEXT | '') ;;
        *) mapfile -t COMPREPLY < <(compgen -W "${1//|/ }" -- "$2") ;;
      esac
    }

    _borealis() {
      local line=${COMP_LINE:0:COMP_POINT} name= value= word current
      local -a words next operands options
      local -i i last
      COMPREPLY=()
      # Not COMP_WORDS, which bash divides at = and : as well.
      read -ra words <<<"$line"
      [[ $line != *[[:space:]] ]] || words+=('')
      last=$((${#words[@]} - 1))
      current=${words[last]}
      _borealis_after ''
      for ((i = 1; i < last; i++)); do
        word=${words[i]}
        if [[ -n $value ]]; then
          value=
        elif [[ " ${next[*]} " == *" $word "* ]]; then
          name+=${name:+ }$word
          _borealis_after "$name"
        elif [[ $word == -* ]]; then
          _borealis_value "$word"
        else
          next=() operands=("${operands[@]:1}")
        fi
      done
      if [[ -n $value ]]; then
        _borealis_offer "$value" "$current"
      elif [[ $current == --*=* ]]; then
        _borealis_value "${current%%=*}"
        _borealis_offer "$value" "${current#*=}"
        # Where = does not divide words, the whole one is replaced.
        [[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=("${COMPREPLY[@]/#/${current%%=*}=}")
      elif [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "${options[*]%%=*}" -- "$current")
      elif [[ ${#next[@]} -gt 0 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "${next[*]}" -- "$current")
      else
        _borealis_offer "${operands[0]:-}" "$current"
      fi
    }

    complete -F _borealis borealis
    """#
}
