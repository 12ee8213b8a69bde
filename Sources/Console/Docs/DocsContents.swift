import BorealisBase
import CCommonMark

/// The list of the pages, as the first page of the documentation has it: a group for each heading of the
/// second level, and a page for the first link of each entry of a list.
struct DocsContents: Sendable {
  struct Entry: Sendable, Equatable {
    let title: String
    let path: String
    /// What the list says behind the link.
    var text = ""
  }

  struct Group: Sendable, Equatable {
    let title: String
    var entries: [Entry] = []
  }

  let groups: [Group]
  /// All entries in order.
  var entries: [Entry] { groups.flatMap(\.entries) }

  private static let english = DocsContents(DocsLibrary.startFile)
  private static let chinese = DocsContents("Docs/README.zh.md")

  /// The list in a language.
  static func list(in language: Language) -> DocsContents { language == .chinese ? chinese : english }

  init(_ file: String) { self.init(DocsLibrary.text(file) ?? "", file: file) }

  init(_ text: String, file: String) {
    var reader = Reader(file: file)
    if let markdown = Markdown(text) { markdown.walk { reader.visit($0) } }
    groups = reader.groups.filter { !$0.entries.isEmpty }
  }

  /// Reads the list part by part.
  private struct Reader {
    let file: String
    var groups: [Group] = []
    private var heading: String?
    private var link: (path: String, title: String)?
    private var isInItem = false
    private var hasEntry = false

    init(file: String) { self.file = file }

    mutating func visit(_ node: Markdown.Node) {
      switch node.kind {
      case CMARK_NODE_HEADING where node.begins: heading = ""
      case CMARK_NODE_HEADING:
        if node.level == 2 { groups.append(Group(title: heading ?? "")) }
        heading = nil
      case CMARK_NODE_ITEM: (isInItem, hasEntry) = (node.begins, false)
      case CMARK_NODE_LINK where node.begins: begin(node.url)
      case CMARK_NODE_LINK: end()
      case CMARK_NODE_TEXT, CMARK_NODE_CODE: add(node.literal)
      case CMARK_NODE_SOFTBREAK: add(" ")
      default: break
      }
    }

    private mutating func begin(_ url: String) {
      guard isInItem, !hasEntry, !groups.isEmpty,
        let path = DocsLibrary.address(url, from: file, DocsLinks(language: nil)), path.hasPrefix("/docs")
      else { return }
      link = (path, "")
    }

    private mutating func end() {
      guard let link else { return }
      groups[groups.count - 1].entries.append(Entry(title: link.title, path: link.path))
      (self.link, hasEntry) = (nil, true)
    }

    private mutating func add(_ text: String) {
      if heading != nil {
        heading? += text
      } else if link != nil {
        link?.title += text
      } else if hasEntry, let group = groups.indices.last, let entry = groups[group].entries.indices.last {
        // A colon stands behind the link.
        let isFirst = groups[group].entries[entry].text.isEmpty
        groups[group].entries[entry].text += isFirst ? text.drop { ":： ".contains($0) } : text[...]
      }
    }
  }

  // MARK: Neighbors

  /// The pages before and after a page: in the list, or among the decisions.
  func neighbors(of path: String) -> (before: Entry?, after: Entry?) {
    let entries = entries
    if let place = entries.firstIndex(where: { $0.path == path }) {
      return (
        place > 0 ? entries[place - 1] : nil, place + 1 < entries.count ? entries[place + 1] : nil
      )
    }
    guard let place = Self.decisions.firstIndex(where: { $0.path == path }) else { return (nil, nil) }
    let isLast = place + 1 == Self.decisions.count
    return (
      place > 0 ? Self.decisions[place - 1] : entries.first { $0.path == Self.decisionsPath },
      isLast ? nil : Self.decisions[place + 1]
    )
  }

  static let decisionsPath = "/docs/decisions"

  /// The decisions by number.
  private static let decisions: [Entry] = DocsLibrary.pages.values.filter {
    $0.path.hasPrefix("\(decisionsPath)/")
  }.sorted { $0.path < $1.path }.map { Entry(title: $0.title, path: $0.path) }
}
