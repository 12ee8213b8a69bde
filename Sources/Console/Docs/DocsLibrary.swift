import BorealisBase
import HTTP

/// A page of the documentation.
struct DocsPage: Sendable {
  /// Its file in the repository, such as `Docs/api/jpush.md`.
  let file: String
  /// Its address without a query, such as `/docs/api/jpush`.
  let path: String
  /// Its heading, without marks.
  let title: String
  /// Its Chinese version, which stands beside the file as `jpush.zh.md`.
  let chineseFile: String?

  /// The file in a language; English where there is no other.
  func file(in language: Language) -> String { language == .chinese ? chineseFile ?? file : file }

  /// The language that a reader of another one gets to read.
  func language(for reader: Language) -> Language { chineseFile == nil ? .english : reader }
}

/// The documentation that is part of the program: the Markdown of the repository, and the files that it
/// shows or refers to.
enum DocsLibrary {
  /// The first page, which is also the list of the others.
  static let startFile = "Docs/README.md"

  /// The pages by their addresses.
  static let pages: [String: DocsPage] = {
    let chinese = ".zh.md"
    var pages: [String: DocsPage] = [:]
    for file in embeddedDocs.keys where file.hasSuffix(".md") && !file.hasSuffix(chinese) {
      let other = file.dropLast(3) + chinese
      let path = path(of: file)
      pages[path] = DocsPage(
        file: file, path: path, title: title(of: file),
        chineseFile: embeddedDocs[String(other)] == nil ? nil : String(other))
    }
    return pages
  }()

  /// The text of a file; nil if it is not part of the documentation.
  static func text(_ file: String) -> String? { embeddedDocs[file] }

  /// The address of a page: that of its file in `Docs` without the ending; a `README.md` stands for its
  /// folder. The two pages at the top of the repository have their names.
  static func path(of file: String) -> String {
    let name = String(file.dropLast(file.hasSuffix(".zh.md") ? 6 : 3))
    guard name.hasPrefix("Docs/") else { return "/docs/\(name.lowercased())" }
    let parts = name.split(separator: "/").dropFirst()
    return (["/docs"] + (parts.last == "README" ? parts.dropLast() : parts)).joined(separator: "/")
  }

  /// The page of a file, named as in the repository: `/docs/operations/README.md`; nil if there is none.
  static func page(ofFileAt path: String) -> String? {
    guard path.hasPrefix("/docs/"), path.hasSuffix(".md") else { return nil }
    let page = self.path(of: "Docs/" + path.dropFirst(6))
    return pages[page] == nil ? nil : page
  }

  private static func title(of file: String) -> String {
    let line = embeddedDocs[file]?.prefix { $0 != "\n" } ?? ""
    return String(line.drop { $0 == "#" || $0 == " " }).replacing("`", with: "")
  }

  // MARK: Links

  /// Where a link of a file leads: a page, a file of the documentation, or another server, as an address for
  /// a browser. Nil for what this server does not have, such as a source file.
  static func address(_ link: String, from file: String, _ links: DocsLinks) -> String? {
    if link.hasPrefix("#") || link.contains("://") || link.hasPrefix("mailto:") { return link }
    let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    var folders = file.split(separator: "/").dropLast()
    for part in parts[0].split(separator: "/") {
      switch part {
      case ".": continue
      case "..": if folders.popLast() == nil { return nil }
      default: folders.append(part)
      }
    }
    let target = folders.joined(separator: "/")
    // People read the description of the API as pages, which lead to the file.
    if target == "Docs/api/openapi.json" { return links.address(APIReference.path) }
    guard embeddedDocs[target] != nil else { return nil }
    let anchor = parts.count > 1 ? String(parts[1]) : nil
    guard target.hasSuffix(".md") else { return "/docs\(target.dropFirst("Docs".count))" }
    return links.address(path(of: target), anchor: anchor)
  }

  // MARK: Files

  /// A file of the documentation that is not a page, by its address.
  static func file(_ path: String) -> Assets.Asset? { files[path] }

  private static let files: [String: Assets.Asset] = {
    var files: [String: Assets.Asset] = [:]
    for (file, text) in embeddedDocs where file.hasPrefix("Docs/") && !file.hasSuffix(".md") {
      let path = "/docs\(file.dropFirst("Docs".count))"
      switch file.split(separator: ".").last {
      case "png": files[path] = .init("image/png", Base64.decodeAny(text.utf8) ?? [])
      case "json": files[path] = .init("application/json", text)
      default: files[path] = .init("text/plain; charset=utf-8", text)
      }
    }
    return files
  }()

  /// The size of a picture in pixels, from the header of its PNG file (ISO/IEC 15948, section 11.2.2).
  static func size(_ path: String) -> (width: Int, height: Int)? {
    guard let bytes = files[path]?.body, bytes.count > 24, bytes[1...3].elementsEqual("PNG".utf8) else {
      return nil
    }
    func number(_ place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
    return (number(16), number(20))
  }
}

/// The addresses that pages of the documentation have for a reader. A language that the address of the
/// present page names goes along: browsers send the pages no cookie.
struct DocsLinks: Sendable, Hashable {
  /// Nil for the language of the browser.
  let language: Language?

  init(language: Language?) { self.language = language }

  init(_ call: PageCall) { language = call.target["lang"].flatMap { Language(rawValue: $0) } }

  func address(_ path: String, anchor: String? = nil) -> String {
    let query = language.map { "?lang=\($0.rawValue)" } ?? ""
    return path + query + (anchor.map { "#\($0)" } ?? "")
  }
}
