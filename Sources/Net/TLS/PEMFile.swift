import BorealisBase
import Glibc

/// A file in PEM form, or the same in memory, and what to say of it when it is not the right one.
struct PEMFile {
  /// What messages call it.
  let name: String
  /// Its text, without a byte order mark.
  let bytes: [UInt8]

  /// The most bytes that are read: the authorities of a whole system have some 200 KB.
  private static let limit = 4 << 20

  /// In memory.
  init(_ bytes: [UInt8], name: String) {
    self.name = name
    self.bytes = bytes.withoutByteOrderMark
  }

  /// Reads a file.
  init(path: String) throws(TLSError) {
    BlockingCall.assertAllowed()
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .unreadable(path: path, reason: String(cString: strerror(errno)))
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
      if count == 0 { break }
      bytes += buffer[..<count]
      guard bytes.count <= Self.limit else {
        throw .unreadable(path: path, reason: "it has more than \(Self.limit >> 20) MiB")
      }
    }
    self.init(bytes, name: path)
  }

  /// What its blocks are called, such as CERTIFICATE.
  private var labels: [String] {
    let (start, end) = ("-----BEGIN ", "-----")
    return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).compactMap { line in
      guard line.hasPrefix(start), let last = line.dropFirst(start.count).firstRange(of: end) else {
        return nil
      }
      return String(line[line.index(line.startIndex, offsetBy: start.count)..<last.lowerBound])
    }
  }

  /// Why it has no certificates that can be read. `reason` is OpenSSL's.
  func faultOfCertificates(else reason: String) -> TLSError {
    fault(of: "CERTIFICATE", as: "a certificate", reason)
  }

  /// Why it has no key that can be read. `reason` is OpenSSL's.
  func faultOfKey(else reason: String) -> TLSError {
    let text = String(decoding: bytes, as: UTF8.self)
    if labels.contains("ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
      return .invalid(
        path: name, reason: "its key is encrypted; \"openssl pkey -in \(name) -out FILE\" decrypts it")
    }
    return fault(of: "PRIVATE KEY", as: "a private key", reason)
  }

  private func fault(of label: String, as what: String, _ reason: String) -> TLSError {
    let labels = labels
    if labels.isEmpty {
      return .invalid(path: name, reason: "it is not in PEM form (\"-----BEGIN \(label)-----\")")
    }
    if !labels.contains(where: { $0.hasSuffix(label) }) {
      return .invalid(path: name, reason: "it holds \"\(labels[0])\", not \(what)")
    }
    return .invalid(path: name, reason: "\(what) in it cannot be read: \(reason)")
  }
}
