import BorealisBase
import HTTP

struct HealthCommand: Command {
  static let name = "health"
  static let summary = "Checks whether a server is ready."
  static let details = """
    Requests /readyz of a server's HTTP API. Exits with 0 if the server is ready, with 1 if it is stopping, cannot store
    anything or cannot be reached. For the health checks of containers and for scripts that wait for a server.
    """
  static let operands: [String] = []
  static let settings = [
    SettingDefinition(
      name: "server", valueName: "URL", help: "The address of the HTTP API, such as http://127.0.0.1:8080.",
      kind: .text),
    SettingDefinition(
      name: "ca", valueName: "FILE", help: "Certificates to trust for https; the default is the system's.",
      kind: .text),
  ]

  static func run(_ input: Input) throws(Failure) {
    let server = try ServerURL(try input.required("server"))
    let request = HTTPRequest(method: "GET", target: "/readyz")
    let response = try HTTPClient.send(request, to: server, caFile: input.settings.text("ca"))
    guard response.status == 200 else {
      let reason = String(decoding: response.body, as: UTF8.self).split(separator: "\n").first.map {
        ": \($0)"
      }
      throw .failed("\(server.host) is not ready (status \(response.status)\(reason ?? ""))")
    }
    Terminal.print(["ready": true])
  }
}
