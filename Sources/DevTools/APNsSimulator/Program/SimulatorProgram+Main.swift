import BorealisBase
import Glibc

extension SimulatorProgram {
  /// Runs the program of its own with its arguments, without its name, and returns the exit status: 0 for
  /// success, 1 for a failure, 2 for wrong usage.
  package static func main(_ arguments: [String]) -> Int32 {
    if arguments.contains("--help") || arguments.contains("-h") {
      let help = Settings.help(
        usage: "apns-simulator [options]", summary: summary + "\n\n" + details, SimulatorSettings.definitions)
      _ = SystemCalls.writeAll(Array(help.utf8), to: STDOUT_FILENO)
      return 0
    }
    let settings: Settings
    do throws(SettingsError) {
      settings = try Settings(
        SimulatorSettings.definitions, arguments: arguments, environment: environment, file: nil,
        readFile: { _ in nil })
    } catch {
      return complain(error.description, status: 2)
    }
    do throws(SimulatorFailure) {
      try run(settings)
      return 0
    } catch {
      switch error {
      case .usage(let message): return complain(message, status: 2)
      case .failed(let message): return complain(message, status: 1)
      }
    }
  }

  private static var environment: [String: String] {
    var found: [String: String] = [:]
    for definition in SimulatorSettings.definitions {
      found[definition.variable] = getenv(definition.variable).map { String(cString: $0) }
    }
    return found
  }

  private static func complain(_ message: String, status: Int32) -> Int32 {
    _ = SystemCalls.writeAll(Array("apns-simulator: \(message)\n".utf8), to: STDERR_FILENO)
    return status
  }
}
