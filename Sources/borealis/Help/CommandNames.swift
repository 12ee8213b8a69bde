import BorealisBase

/// The commands, by the words of their names.
struct CommandNames {
  /// A word that may follow others in the name of a command.
  struct Word {
    let text: String
    /// The command's summary; empty if further words follow.
    let summary: String
  }

  /// Words that names begin with, such as "app channel", or none of them.
  struct Prefix {
    let name: String
    /// The words that may follow, in the order of the commands.
    var next: [Word]
  }

  let commands: [any Command.Type]
  /// The empty one first.
  let prefixes: [Prefix]

  init(_ commands: [any Command.Type]) {
    self.commands = commands
    var prefixes: [Prefix] = []
    for command in commands {
      let words = command.name.split(separator: " ").map(String.init)
      for (index, word) in words.enumerated() {
        let name = words[..<index].joined(separator: " ")
        let isLast = index == words.count - 1
        let next = Word(text: word, summary: isLast ? command.summary : "")
        guard let known = prefixes.firstIndex(where: { $0.name == name }) else {
          prefixes.append(Prefix(name: name, next: [next]))
          continue
        }
        if !prefixes[known].next.contains(where: { $0.text == word }) { prefixes[known].next.append(next) }
      }
    }
    self.prefixes = prefixes
  }
}

/// What a shell offers for an operand or for the value of an option.
enum CompletedValue {
  case nothing
  case files
  case folders
  case words([String])

  /// An operand's name tells: `on|off`, or `FILE`.
  init(operand: String) {
    let words = operand.split(separator: "|").map(String.init)
    self = words.count > 1 ? .words(words) : Self.named(operand)
  }

  /// For the value of a setting.
  init(_ setting: SettingDefinition) {
    if case .choice(let words) = setting.kind {
      self = .words(words)
    } else {
      self = Self.named(setting.valueName)
    }
  }

  private static func named(_ name: String) -> Self {
    switch name {
    case "FILE", "PATH": .files
    case "DIR": .folders
    default: .nothing
    }
  }
}
