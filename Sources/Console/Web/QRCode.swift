import CQREncode

/// A text as a QR code (ISO/IEC 18004) that a camera reads, drawn by the browser.
enum QRCode {
  /// Modules of quiet ground around the code, as the standard wants.
  private static let margin = 4

  /// The drawing, with a name for those who do not see it; nil if the text is too long, or there is no
  /// memory.
  static func svg(_ text: String, name: String) -> HTML? {
    guard !text.isEmpty, let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { return nil }
    defer { QRcode_free(code) }
    guard let modules = code.pointee.data else { return nil }
    let width = Int(code.pointee.width)
    var path = ""
    for y in 0..<width {
      var x = 0
      while x < width {
        // The lowest bit of a module says whether it is dark.
        let start = x
        while x < width, modules[y * width + x] & 1 == 1 { x += 1 }
        if x > start { path += "M\(start + margin) \(y + margin)h\(x - start)v1h-\(x - start)z" }
        x += 1
      }
    }
    let size = width + 2 * margin
    return """
      <svg class="qr" viewBox="0 0 \(size) \(size)" role="img" aria-label="\(name)" shape-rendering="crispEdges"><path d="\(path)"/></svg>
      """
  }
}
