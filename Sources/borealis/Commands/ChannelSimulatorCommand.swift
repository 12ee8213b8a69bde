import BorealisBase
import DevTools
import Glibc

struct ChannelSimulatorCommand: Command {
  static let name = "channel-simulator"
  static let summary = ChannelSimulatorProgram.summary
  static let details = ChannelSimulatorProgram.details
  static let operands: [String] = []
  static let settings = ChannelSimulatorProgram.settings

  static func run(_ input: Input) throws(Failure) {
    do throws(ChannelSimulatorFailure) {
      try ChannelSimulatorProgram.run(input.settings)
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
