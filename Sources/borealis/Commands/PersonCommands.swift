import BorealisBase
import BorealisCrypto
import Storage

struct PersonListCommand: ServedCommand {
  static let name = "person list"
  static let summary = "Lists the users of the console."
  static let details = "Prints one line of JSON for each person."
  static let operands: [String] = []
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let people = try DataFolder(input).read(orFail: "cannot read the people") {
      transaction throws(StorageError) in
      try transaction.people.all()
    }
    for person in people {
      Terminal.print([
        "email": .string(person.email), "name": .string(person.name), "operator": .bool(person.isOperator),
        "totp": .bool(person.sealedTOTP != nil), "password": .bool(person.hasPassword),
        "issuer": person.issuer.map { .string($0) } ?? .null,
        "created": .string(Log.iso8601(person.createdAt.milliseconds)),
      ])
    }
  }
}

struct PersonResetCommand: ServedCommand {
  static let name = "person reset"
  static let summary =
    "Restores console access for a person who lost the password or the authenticator app."
  static let details = """
    Sets a new password for the user with the address EMAIL and prints it as JSON; it is shown only now. The user's
    authenticator app and recovery codes are turned off, and all browsers are logged out. Single sign-on is no longer
    connected; the next login with it connects the user who has the address there.
    """
  static let operands = ["EMAIL"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let (email, password) = (input.operands[0], SecretKey24.generate())
    let hash: String
    do throws(CryptoError) { hash = try Password.hash(password) } catch { throw .failed(error.description) }
    let now = SystemTime().now()
    let isKnown = try DataFolder(input).change(orFail: "cannot change the person") {
      transaction throws(StorageError) -> Bool in
      guard let person = try transaction.people.find(email: email) else { return false }
      try transaction.people.setPassword(of: person.id, hash, keeping: nil)
      try transaction.people.setTOTP(of: person.id, sealed: nil, step: 0)
      try transaction.people.removeIdentity(of: person.id)
      try transaction.audit.add(
        AuditRow(
          at: now, account: nil, person: person.id, who: "borealis person reset", action: "person.reset",
          target: person.email, address: ""))
      return true
    }
    guard isKnown else { throw .failed("no user has the address \(email)") }
    Terminal.print(["email": .string(email), "password": .string(password)])
  }
}
