import Glibc
import PushBase
import PushCrypto
import PushOps

/// The file with the key that secrets in the database are sealed with. It is no part of the database, nor of its
/// backups: whoever has only one of both cannot read the secrets.
struct SecretKeyFile: Sendable {
  let path: String

  static let setting = SettingDefinition(
    name: "secret-key-file", valueName: "FILE",
    help: "The key that APNs credentials and callback secrets are sealed with; DIR/secret-key if not given.",
    kind: .text)

  /// The file that the setting names, or the one in the data folder.
  init(_ settings: Settings, folder: DataFolder) {
    path = settings.text(Self.setting.name) ?? folder.path + "/secret-key"
  }

  var exists: Bool { access(path, F_OK) == 0 || errno != ENOENT }

  /// Reads the keys. Nobody but the owner and the group may be able to read them, too.
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
    guard let text = Files.read(path) else {
      throw .failed("cannot read \(path): \(SystemCalls.reason(errno))")
    }
    do throws(SealError) {
      return try SealingKeys(text: text)
    } catch {
      throw .failed("\(path): \(error)")
    }
  }

  /// Makes the file with a new key unless it is there; then reads it. Made only while nothing is sealed: one that is
  /// merely lost must not be replaced unnoticed.
  func readOrMake(sealed: Int) throws(Failure) -> SealingKeys {
    guard !exists else { return try read() }
    guard sealed == 0 else {
      throw .failed(
        "the secret key file \(path) is missing, and \(sealed) credentials are sealed with its key: restore it, or "
          + "name it by --secret-key-file, or remove the credentials")
    }
    try make()
    return try read()
  }

  /// Of two processes that do this at once, one makes the file and both read it.
  private func make() throws(Failure) {
    // A name that no other thread or process has.
    let own = "\(path).\(Hex.encode(SystemRandom.bytes(8)))"
    let text = """
      # Borealis seals the secrets in its database with this key. "borealis backup" does not copy it: keep a copy
      # elsewhere. Without it the APNs credentials must be uploaded again, and callbacks set up again.
      \(SealingKeys.makeLine())
      """
    try Files.replace(own, with: text, mode: 0o600)
    let linked = link(own, path)
    let number = errno
    unlink(own)
    guard linked == 0 || number == EEXIST else {
      throw .failed("cannot write \(path): \(SystemCalls.reason(number))")
    }
  }
}
