import BorealisBase

struct RegistrationDeleteCommand: Command {
  static let name = "registration delete"
  static let summary = "Deletes the registration of a device through the HTTP API of a server."
  static let details = """
    Deletes the registration with its alias, tags and tokens; pushes that wait for it are not delivered. A device that still
    uses it registers anew. Pass the master secret in a file or in BOREALIS_MASTER_SECRET, since other users of the machine can
    read flags.

      borealis registration delete ID --server http://127.0.0.1:8080 --app-key KEY --master-secret-file FILE
    """
  static let operands = ["ID"]
  static let settings = PushAPI.settings

  static func run(_ input: Input) throws(Failure) {
    guard let id = input.operands.first.flatMap({ RegistrationID($0) }) else {
      throw .usage("ID is not a registration ID: 19 hexadecimal digits")
    }
    Terminal.print(try PushAPI(input).call("DELETE", "/v1/devices/\(id.text)"))
  }
}
