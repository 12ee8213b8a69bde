import BorealisBase
import DevTools
import Glibc

struct SimulatorCommand: Command {
  static let name = "apns-simulator"
  static let summary = SimulatorProgram.summary
  static let details = SimulatorProgram.details
  static let operands: [String] = []
  static let settings = SimulatorSettings.definitions

  static func run(_ input: Input) throws(Failure) {
    do throws(SimulatorFailure) {
      try SimulatorProgram.run(input.settings)
    } catch {
      switch error {
      case .usage(let message): throw .usage(message)
      case .failed(let message): throw .failed(message)
      }
    }
    // Without the handlers of `exit`, which tear down what other threads still use.
    _exit(0)
  }
}
