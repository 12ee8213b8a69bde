/// Why the simulator cannot run.
package enum SimulatorFailure: Error, Equatable {
  /// A setting is wrong; with one line for people.
  case usage(String)
  /// Something else failed; with one line for people.
  case failed(String)
}
