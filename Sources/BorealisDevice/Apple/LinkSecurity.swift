import Foundation
import Network
import Security

/// How connections through Network.framework are protected: what `TransportSecurity` says, with its files
/// read.
struct LinkSecurity: Sendable {
  private enum Trust: Sendable {
    case none
    case system
    /// Certificates in DER form.
    case authorities([Data])
    case anybody
  }

  private let trust: Trust

  init(_ security: TransportSecurity) throws(DeviceSetUpError) {
    switch security {
    case .plain: trust = .none
    case .tls(caFile: nil): trust = .system
    case .tls(let file?): trust = .authorities(try Self.certificates(file))
    case .tlsUnverified: trust = .anybody
    }
  }

  /// The parameters of a new connection; what the system asks about its server is answered on the queue.
  func parameters(_ queue: DispatchQueue) -> NWParameters {
    let tcp = NWProtocolTCP.Options()
    tcp.noDelay = true
    guard let tls = options(queue) else { return NWParameters(tls: nil, tcp: tcp) }
    return NWParameters(tls: tls, tcp: tcp)
  }

  private func options(_ queue: DispatchQueue) -> NWProtocolTLS.Options? {
    let tls = NWProtocolTLS.Options()
    sec_protocol_options_set_min_tls_protocol_version(tls.securityProtocolOptions, .TLSv12)
    switch trust {
    case .none: return nil
    case .system: break
    case .authorities(let authorities):
      sec_protocol_options_set_verify_block(
        tls.securityProtocolOptions,
        { _, trust, complete in
          complete(Self.verify(sec_trust_copy_ref(trust).takeRetainedValue(), authorities))
        }, queue)
    case .anybody:
      sec_protocol_options_set_verify_block(
        tls.securityProtocolOptions, { _, _, complete in complete(true) }, queue)
    }
    return tls
  }

  /// Whether one of the authorities has signed the server's certificate, which names the host.
  private static func verify(_ trust: SecTrust, _ authorities: [Data]) -> Bool {
    let anchors = authorities.compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
    SecTrustSetAnchorCertificates(trust, anchors as CFArray)
    SecTrustSetAnchorCertificatesOnly(trust, true)
    return SecTrustEvaluateWithError(trust, nil)
  }

  /// The certificates of a PEM file.
  private static func certificates(_ path: String) throws(DeviceSetUpError) -> [Data] {
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw .tls("cannot read \(path)")
    }
    let blocks = String(decoding: bytes, as: UTF8.self).components(separatedBy: "-----BEGIN CERTIFICATE-----")
    let certificates = blocks.dropFirst().compactMap { block in
      block.components(separatedBy: "-----END").first.flatMap {
        Data(base64Encoded: $0, options: .ignoreUnknownCharacters)
      }
    }
    guard !certificates.isEmpty else { throw .tls("\(path) holds no certificate in PEM form") }
    return certificates
  }
}
