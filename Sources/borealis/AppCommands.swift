import PushBase
import PushCrypto
import PushJSON
import PushOps
import PushStorage

struct AppCreateCommand: Command {
  static let name = "app create"
  static let summary = "Makes an app and prints its key and master secret."
  static let details = """
    Makes an app and prints, as JSON, its key and its master secret. The secret is shown only now: the database keeps
    a digest of it. Works while a server runs on the folder; the server knows the app at once.
    """
  static let operands = ["NAME"]
  static let settings = [DataFolder.setting]

  static func run(_ input: Input) throws(Failure) {
    let name = input.operands[0]
    guard (1...100).contains(name.utf8.count), name.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else {
      throw .usage("NAME has 1 to 100 bytes and no control characters")
    }
    let folder = try DataFolder(input)
    try folder.create()
    let store = try folder.openStore(readers: 1, log: Log(level: .warning))
    defer { store.close() }
    let bytes = SystemRandom.bytes(12)
    let key = AppKey(
      high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) },
      low: bytes[8...].reduce(0) { $0 << 8 | UInt32($1) })
    let secret = SecretKey24.generate()
    let hash = SHA256.digest(Array(secret.utf8))
    do throws(StorageError) {
      _ = try Blocking.wait { done in
        store.write { transaction throws(StorageError) in
          try transaction.createApp(key: key, name: name, secretHash: hash, at: SystemTime().now())
        } completion: {
          done($0)
        }
      }
    } catch {
      throw DataFolder.failure("cannot make the app", error)
    }
    Console.print([
      "app_key": .string(key.text), "master_secret": .string(secret), "name": .string(name),
    ])
  }
}

struct AppListCommand: Command {
  static let name = "app list"
  static let summary = "Lists the apps."
  static let details = """
    Prints one line of JSON for each app, the oldest first. Works while a server runs on the folder.
    """
  static let operands: [String] = []
  static let settings = [DataFolder.setting]

  static func run(_ input: Input) throws(Failure) {
    let folder = try DataFolder(input)
    try folder.expectDatabase()
    let store = try folder.openStore(readers: 1, log: Log(level: .warning))
    defer { store.close() }
    let apps: [AppRow]
    do throws(StorageError) {
      apps = try Blocking.wait { done in
        store.read { transaction throws(StorageError) in
          try transaction.apps()
        } completion: {
          done($0)
        }
      }
    } catch {
      throw DataFolder.failure("cannot read the apps", error)
    }
    for app in apps {
      Console.print([
        "app_key": .string(app.key.text), "name": .string(app.name),
        "created_at": .number(JSONNumber(app.createdAt.seconds)), "disabled": .bool(app.isDisabled),
      ])
    }
  }
}
