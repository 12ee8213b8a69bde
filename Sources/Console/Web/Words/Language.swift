import BorealisBase

extension Language {
  /// The first of a browser's languages (`Accept-Language`, RFC 9110 section 12.5.4) that the console speaks;
  /// by order, since browsers list them so.
  init(accepting header: String?) {
    let names = (header ?? "").split(separator: ",").map { $0.drop { $0 == " " }.lowercased() }
    self =
      names.lazy.compactMap { name in Self.allCases.first { name.hasPrefix($0.rawValue) } }.first ?? .english
  }

  /// The value of the attribute `lang`.
  var tag: String { self == .chinese ? "zh-CN" : "en" }
}
