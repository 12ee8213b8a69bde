import BorealisBase
import BorealisCrypto
import Glibc
import Storage

struct ResealCommand: Command {
  static let name = "reseal"
  static let summary = "Encrypts all that is sealed in the database again, with the current secret key."
  static let details = """
    Opens the credentials and callback secrets of all apps, the secrets of people's one-time passwords, and the contents
    of apps that have them sealed ("borealis app seal"), with the keys in the secret key file and seals them with the first one,
    so that the others can be taken out of the file. Works beside a running server, which seals with the first key from then on.
    If it is interrupted, run it again.

    The server does not start if a key is missing. If one is lost for good, --forget-lost with its ID, which the server
    names then, removes what that key had sealed, prints it, and does nothing else: credentials and callbacks have to be
    set up again, people whose one-time passwords are removed log in without them, and pushes, schedules and files that
    nobody can read any more are gone. Stop the server first.
    """
  static let operands: [String] = []
  static let settings =
    DataFolder.settings + [
      SecretKeyFile.setting,
      SettingDefinition(
        name: "forget-lost", valueName: "KEY-ID",
        help: "Removes what was encrypted with the key of this ID.",
        kind: .text
      ),
    ]

  static func run(_ input: Input) throws(Failure) {
    let folder = try DataFolder(input)
    let file = SecretKeyFile(input.settings, folder: folder)
    if let lost = input.settings.text("forget-lost") {
      return try forget(lost, folder, file, isNamed: input.settings.text(SecretKeyFile.setting.name) != nil)
    }
    try folder.withStore(keys: file) { store throws(Failure) in
      let keys = try file.readAll(for: store)
      // In one transaction: what a server changes meanwhile is neither lost nor left behind.
      let result = try store.writeNow(orFail: "cannot change the secrets") {
        transaction throws(StorageError) in
        try Resealing(keys: keys).run(in: transaction)
      }
      let count = try result.get()
      let contents = try resealContents(of: store, folder)
      Terminal.print([
        "resealed": .number(JSONNumber(Int64(count))),
        "contents": .number(JSONNumber(Int64(contents.resealed))),
        "damaged": .number(JSONNumber(Int64(contents.damaged))),
        "secret_key": .string(keys.currentID),
      ])
    }
  }

  /// `isNamed` says that the operator gave the file. Without it a file that is missing may just be somewhere
  /// else.
  private static func forget(_ lost: String, _ folder: DataFolder, _ file: SecretKeyFile, isNamed: Bool)
    throws(Failure)
  {
    guard lost.count == 16, let id = Hex.decode(lost) else {
      throw .usage("--forget-lost needs the ID of the lost key: 16 hexadecimal digits")
    }
    let lost = lost.lowercased()
    guard file.exists || isNamed else {
      throw .failed(
        "the secret key file \(file.path) is missing: name it by --secret-key-file, or, if it was there and is lost, "
          + "give --secret-key-file \(file.path)")
    }
    guard try !(file.exists ? file.read().ids : []).contains(lost) else {
      throw .failed("the key \(lost) is not lost: it is in \(file.path); nothing was removed")
    }
    try folder.withStore { store throws(Failure) in
      let contents = try deleteContents(of: store, id)
      var removed = try store.writeNow(orFail: "cannot change the secrets") {
        transaction throws(StorageError) in
        try transaction.sealing.forgetKey(id)
        return try Resealing.forget(lost, in: transaction)
      }
      if contents > 0 { removed.append("contents of apps that have them sealed: \(contents)") }
      Terminal.print([
        "forgotten": .number(JSONNumber(Int64(removed.count))),
        "removed": .array(removed.map { .string($0) }),
      ])
    }
  }

  /// The longest rest between two steps, in microseconds.
  private static let longestRest: UInt64 = 1_000_000

  private static func resealContents(
    of store: Store, _ folder: DataFolder
  ) throws(Failure) -> (resealed: Int, damaged: Int) {
    do throws(StorageError) {
      guard var work = try ContentResealing(store) else { return (0, 0) }
      while let step = try work.next() {
        let start = SystemTime().monotonic()
        try work.store(step)
        // A server waits for the database in pauses that grow: it needs a time in which it finds it free.
        if folder.mayBeServed {
          let taken = (SystemTime().monotonic() &- start) / 1000
          usleep(UInt32(clamping: min(taken, longestRest)))
        }
      }
      try work.finish()
      return (work.resealed, work.damaged)
    } catch {
      throw DataFolder.failure("cannot seal contents", error)
    }
  }

  /// Contents that are deleted in one step.
  private static let deletedInStep = 200

  /// Deletes what is sealed with a key; tells how many contents there were.
  private static func deleteContents(of store: Store, _ id: [UInt8]) throws(Failure) -> Int {
    var (place, count) = (SealedContentPlace(), 0)
    while !place.isEnd {
      let start = place
      let (found, next) = try store.readNow(orFail: "cannot read contents") {
        transaction throws(StorageError) in
        var place = start
        let found = try transaction.sealing.contents(
          .with(id), behind: &place, limit: deletedInStep, bytes: 1 << 20)
        return (found, place)
      }
      place = next
      guard !found.isEmpty else { continue }
      try store.writeNow(orFail: "cannot delete contents") { transaction throws(StorageError) in
        try transaction.sealing.delete(found)
      }
      count += found.count
    }
    return count
  }
}
