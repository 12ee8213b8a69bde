import BorealisBase
import Glibc

/// `borealis-dev`: picks the tool, and turns what it throws into one line and an exit status.
package enum ToolProgram {
  /// Runs what the arguments (without the program's name) ask for. Returns the exit status: 0 for success, 1
  /// for a failure, 2 for wrong usage.
  package static func run(_ arguments: [String], _ tools: [any Tool.Type]) -> Int32 {
    do throws(ToolFailure) {
      try dispatch(arguments, tools)
      return 0
    } catch {
      switch error {
      case .usage(let message):
        complain(message)
        return 2
      case .failed(let message):
        complain(message)
        return 1
      }
    }
  }

  private static func dispatch(_ arguments: [String], _ tools: [any Tool.Type]) throws(ToolFailure) {
    guard let first = arguments.first else { throw .usage("a command is missing; see borealis-dev --help") }
    if ["--help", "-h", "help"].contains(first) { return write(help(tools), to: STDOUT_FILENO) }
    guard let tool = tools.first(where: { $0.name == first }) else {
      throw .usage("unknown command \"\(first)\"; borealis-dev --help lists them")
    }
    var rest = Array(arguments.dropFirst())
    if rest.contains("--help") || rest.contains("-h") { return write(help(tool), to: STDOUT_FILENO) }
    var operand = ""
    if let name = tool.operand {
      guard let given = rest.first, !given.hasPrefix("-") else {
        throw .usage("\(name) is missing; see borealis-dev \(tool.name) --help")
      }
      operand = given
      rest.removeFirst()
    }
    let settings: Settings
    do throws(SettingsError) {
      settings = try Settings(
        tool.settings, arguments: rest, environment: environment(of: tool), file: nil, readFile: { _ in nil })
    } catch {
      throw .usage(error.description)
    }
    try tool.run(operand, settings)
  }

  private static func help(_ tools: [any Tool.Type]) -> String {
    let width = (tools.map { $0.name.count }.max() ?? 0) + 2
    let lines = tools.map { "  \($0.name.padded(to: width))\($0.summary)\n" }
    return """
      Simulators and benchmarks for people who develop Borealis or integrate it.

      usage: borealis-dev COMMAND [options]

      \(lines.joined())
      "borealis-dev COMMAND --help" explains a command.

      """
  }

  private static func help(_ tool: any Tool.Type) -> String {
    let usage = "borealis-dev \(tool.name)\(tool.operand.map { " \($0)" } ?? "") [options]"
    return Settings.help(usage: usage, summary: tool.summary + "\n\n" + tool.details, tool.settings)
  }

  private static func environment(of tool: any Tool.Type) -> [String: String] {
    var found: [String: String] = [:]
    for definition in tool.settings {
      found[definition.variable] = getenv(definition.variable).map { String(cString: $0) }
    }
    return found
  }

  private static func complain(_ message: String) { write("borealis-dev: \(message)\n", to: STDERR_FILENO) }

  private static func write(_ text: String, to descriptor: Int32) {
    _ = SystemCalls.writeAll(Array(text.utf8), to: descriptor)
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
