import BorealisBase

/// A command of `borealis-dev`.
package protocol Tool {
  static var name: String { get }
  /// A phrase for the list of commands.
  static var summary: String { get }
  /// The text of `--help` beyond the summary and the options.
  static var details: String { get }
  /// The name of the one argument without a flag; nil if there is none.
  static var operand: String? { get }
  static var settings: [SettingDefinition] { get }

  /// Runs to the end of its work, or until SIGTERM or SIGINT. The process has no other threads yet, and ends
  /// behind it.
  static func run(_ operand: String, _ settings: Settings) throws(ToolFailure)
}

/// Why a tool cannot do its work, as one line for people.
package enum ToolFailure: Error, Equatable {
  /// An argument or a setting is wrong.
  case usage(String)
  /// Something else failed.
  case failed(String)
}
