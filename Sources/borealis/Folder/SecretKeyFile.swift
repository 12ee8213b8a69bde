import BorealisBase
import BorealisCrypto
import Glibc
import Storage

/// The file with the keys that secrets in the database are sealed with. It is part neither of the database
/// nor of its backups: one without the other does not reveal the secrets.
struct SecretKeyFile: Sendable {
  let path: String
  /// Whether the database is not beside the file: a server and commands may run on other machines, each with
  /// its own files.
  private let isElsewhere: Bool
  /// Whether the file may be made when it is missing and no key is in use.
  private let makes: Bool

  static let setting = SettingDefinition(
    name: "secret-key-file", valueName: "FILE",
    help: "The key that encrypts stored secrets; the default is DIR/secret-key.",
    kind: .text)

  /// The file that the setting names, or the one in the data folder. For a database in PostgreSQL only its
  /// server makes one.
  init(_ settings: Settings, folder: DataFolder, isServer: Bool = false) {
    path = settings.text(Self.setting.name) ?? (folder.served?.keys ?? Self(in: folder)).path
    isElsewhere = !folder.holdsDatabase
    makes = isServer || !isElsewhere
  }

  /// The one in the data folder.
  init(in folder: DataFolder) { self.init(path: folder.path + "/secret-key") }

  /// One that is only read.
  init(path: String) {
    self.path = path
    (isElsewhere, makes) = (false, false)
  }

  /// The path for a process with another working folder.
  var absolutePath: String {
    guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return String(cString: folder) + "/" + path
  }

  /// The same for a file that need not be there, with the links of its folder resolved.
  private var plannedPath: String {
    let whole = absolutePath
    guard let slash = whole.lastIndex(of: "/"), let folder = realpath(String(whole[...slash]), nil) else {
      return whole
    }
    defer { free(folder) }
    return String(cString: folder) + whole[slash...]
  }

  var exists: Bool { access(path, F_OK) == 0 || errno != ENOENT }

  /// Reads the keys. Only the owner and the group may have access to the file.
  func read() throws(Failure) -> SealingKeys {
    var status = stat()
    guard stat(path, &status) == 0 else {
      let number = errno
      throw .failed(
        number == ENOENT
          ? "the secret key file \(path) is missing" : "cannot read \(path): \(SystemCalls.reason(number))")
    }
    guard status.st_mode & 0o007 == 0 else {
      throw .failed("everybody on this machine may read or change \(path): \"chmod o= \(path)\" ends that")
    }
    guard let text = SmallFiles.read(path) else {
      throw .failed("cannot read \(path): \(SystemCalls.reason(errno))")
    }
    do throws(SealError) {
      return try SealingKeys(text: text)
    } catch {
      throw .failed("\(path): \(error)")
    }
  }

  /// Creates the file with a new key if it is missing, and reads it. It is created only while no key is in
  /// use: a lost one must not be replaced unnoticed, nor a wrong one used beside it. `inUse` has the keys'
  /// IDs.
  func readOrMake(inUse: Set<String>) throws(Failure) -> SealingKeys {
    if inUse.isEmpty, !exists {
      guard makes else {
        throw .failed(
          "the secret key file \(path) is missing, and the database names no key yet: start the server, which makes one, and "
            + "copy its file here, or name it by --secret-key-file")
      }
      try make()
    }
    return try read(inUse: inUse)
  }

  /// The same with the keys that a database needs.
  func readOrMake(for store: Store) throws(Failure) -> SealingKeys {
    try readOrMake(inUse: try Self.keysInUse(store))
  }

  /// Reads the keys; those that a database needs must be among them.
  func readAll(for store: Store) throws(Failure) -> SealingKeys { try read(inUse: try Self.keysInUse(store)) }

  /// Fails if the file lacks a key that something in a database is sealed with. One in PostgreSQL names a key
  /// from its first server on, so that nobody makes another.
  func expectKeys(of store: Store) throws(Failure) {
    let inUse = try Self.keysInUse(store)
    if !inUse.isEmpty { _ = try read(inUse: inUse) }
    guard isElsewhere else { return }
    try store.writeNow(orFail: "cannot note which secret key is in use") { transaction throws(StorageError) in
      try transaction.sealing.nameKey()
    }
  }

  /// Fails if the server that uses the folder now reads another file, in which the key is missing that this
  /// one would seal with. Before a key is put to use: later, a server without it stops reading what is
  /// sealed.
  func expectServed(by folder: DataFolder) throws(Failure) {
    guard let served = folder.servedKeyFile(), !isSame(as: served) else { return }
    let own = exists ? try read().currentID : nil
    if let own {
      let inUse = try folder.withStore { store throws(Failure) in try Self.keysInUse(store) }
      // A server does not start without any of these.
      if inUse.contains(own) { return }
      if let keys = try? served.read(), keys.ids.contains(own) { return }
    }
    throw .failed(
      "the running server reads the secret key file \(served.path), which lacks the key of \(path): give "
        + "--secret-key-file \(served.path)")
  }

  private func isSame(as other: SecretKeyFile) -> Bool {
    var (one, two) = (stat(), stat())
    guard stat(path, &one) == 0, stat(other.path, &two) == 0 else {
      return plannedPath == other.plannedPath
    }
    return (one.st_dev, one.st_ino) == (two.st_dev, two.st_ino)
  }

  private static func keysInUse(_ store: Store) throws(Failure) -> Set<String> {
    let sealed = try store.readNow(orFail: "cannot read the database") { transaction throws(StorageError) in
      try transaction.credentials.allSealed()
    }
    return SealingKeys.ids(of: sealed)
  }

  /// Reads the keys; those in use must be among them.
  func read(inUse: Set<String>) throws(Failure) -> SealingKeys {
    let remedy =
      isElsewhere
      ? "copy the file of the server's machine here, or name it by --secret-key-file"
      : exists ? "restore the file" : "restore it, or name it by --secret-key-file"
    func wayOut(_ lost: Set<String>) -> String {
      "; if it is lost for good, \"borealis reseal --forget-lost \(lost.min() ?? "KEY-ID")\" removes what "
        + "that key had sealed"
    }
    guard exists || inUse.isEmpty else {
      throw .failed(
        "the secret key file \(path) is missing, and secrets in the database are sealed with the key "
          + "\(inUse.sorted().joined(separator: ", ")) that was in it: \(remedy)"
          + wayOut(inUse))
    }
    let keys = try read()
    let missing = inUse.subtracting(keys.ids)
    guard missing.isEmpty else {
      throw .failed(
        "the secret key file \(path) is not that of this database: it holds \(keys.ids.joined(separator: ", ")), and "
          + "secrets are sealed with \(missing.sorted().joined(separator: ", ")): \(remedy)"
          + wayOut(missing))
    }
    return keys
  }

  /// The same for whoever opens contents.
  var source: SecretKeySource {
    SecretKeySource { inUse in
      do throws(Failure) {
        return .success(try readOrMake(inUse: inUse))
      } catch {
        return .failure(StorageError(.noSecretKey, error.message))
      }
    }
  }

  /// Of two processes that do this at once, one makes the file and both read it.
  private func make() throws(Failure) {
    // A name that no other thread or process has.
    let own = "\(path).\(Hex.encode(SystemRandom.bytes(8)))"
    let text = """
      # Borealis seals the secrets in its database with this key. "borealis backup" does not copy it: keep a copy
      # elsewhere. Without it the APNs credentials must be uploaded again, callbacks set up again, and contents of apps that
      # have them sealed cannot be read.
      \(SealingKeys.makeLine())
      """
    try SmallFiles.replace(own, with: text, mode: 0o600)
    let linked = link(own, path)
    let number = errno
    unlink(own)
    guard linked == 0 || number == EEXIST else {
      throw .failed("cannot write \(path): \(SystemCalls.reason(number))")
    }
  }
}
