/// What is wrong with a request to the control API, for people.
struct ControlFault: Error, Equatable {
  let status: Int
  let message: String

  init(_ message: String, status: Int = 400) {
    self.status = status
    self.message = message
  }
}
