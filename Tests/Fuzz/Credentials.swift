import BorealisBase
import BorealisCrypto

/// The topics of a push certificate: what reads must survive one more wrapper.
@Sendable func fuzzTopics(_ bytes: [UInt8]) {
  guard let topics = CertificateTopic.list(extension: bytes) else { return }
  for topic in topics {
    check(!topic.name.isEmpty && topic.name.utf8.allSatisfy { $0 > 32 }, "a topic is printable")
  }
  guard bytes.first == 0x30, bytes.count < 0x10000 else { return }
  let wrapped = [0x04, 0x82, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)] + bytes
  check(CertificateTopic.list(extension: wrapped) == topics, "a wrapper changes nothing")
}

/// PKCS #12 files; the password of those in the corpus is `x`. What reads must read again as a pair of PEM
/// files.
@Sendable func fuzzPKCS12(_ bytes: [UInt8]) {
  do throws(CredentialFileError) {
    let pair = try PKCS12.parse(bytes, password: "x")
    let again = try CertificateKeyPair(
      certificates: Array(pair.certificatesPEM.utf8), key: Array(pair.keyPEM.utf8))
    check(again == pair, "the PEM texts hold the same")
  } catch {
    check(!error.description.isEmpty, "an error says something")
  }
}

/// Files given as .p8 keys.
@Sendable func fuzzKeyFile(_ bytes: [UInt8]) {
  do throws(CredentialFileError) {
    let key = try ES256Key(p8: bytes)
    check((try? ES256Key(p8: Array(key.pem.utf8)))?.fingerprint == key.fingerprint, "the PEM text is the key")
    check((try? key.sign(bytes))?.count == 64, "a key signs")
  } catch {
    check(!error.description.isEmpty, "an error says something")
  }
}
