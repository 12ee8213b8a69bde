import BorealisBase
import Core
import HTTP

/// The ports on which this server accepts devices.
package struct DevicePorts: Sendable {
  let tls: UInt16?
  let plain: UInt16?

  /// Ports with and without TLS.
  package init(tls: UInt16? = nil, plain: UInt16? = nil) {
    self.tls = tls
    self.plain = plain
  }
}

extension SettingsPages {
  /// What an app developer needs to connect devices: app key, host, port, where the library and the
  /// documentation are.
  func connectionCard(_ call: PageCall, _ app: App) -> HTML {
    let key = app.key.text
    let ports = [
      devicePorts.tls.map { call(Words.portTLS.with(String($0))) },
      devicePorts.plain.map { call(Words.portPlain.with(String($0))) },
    ].compactMap { $0 }
    return Forms.part(
      call(Words.connectDevices), about: "<p>\(call(Words.connectDevicesText))</p>\(docsLinks(call))",
      """
      <dl><dt>\(call(Words.appKey))</dt><dd><code>\(key)</code> \(call.copyButton(key))</dd>
      <dt>\(call(Words.serverHost))</dt><dd><code>\(call.host)</code></dd>
      <dt>\(call(Words.devicePort))</dt><dd>\(ports.joined(separator: call(Words.comma)))</dd>
      <dt>WebSocket</dt><dd><code>\(call.isSecure ? "wss" : "ws")://\(call.request.headers["host"] ?? "localhost")/device</code></dd></dl>
      """)
  }

  /// The pages about the libraries and the protocol.
  private func docsLinks(_ call: PageCall) -> HTML {
    guard call.hasDocs else { return .none }
    let links = [
      call.docsLink(Words.docsOfIOS, "ios"), call.docsLink(Words.docsOfAndroid, "android"),
      call.docsLink(Words.docsOfWeb, "web"), call.docsLink(Words.docsOfProtocol, "protocol"),
    ]
    return "<ul class=\"plain\">\(links, { "<li>\($0)</li>" })</ul>"
  }
}
