import CCommonMark

/// A page of Markdown as it is shown.
struct MarkdownPage: Sendable {
  /// A heading, and the name by which links lead to it.
  struct Heading: Sendable, Equatable {
    let level: Int
    let text: String
    let anchor: String
  }

  /// The text under a heading, without marks.
  struct Section: Sendable {
    /// Nil above the first heading.
    let heading: Heading?
    var text = ""
  }

  let html: HTML
  let headings: [Heading]

  /// Renders a text. `address` returns where a link of it leads on this server, nil for nowhere; `size`
  /// returns the width and height of a picture by its address, in pixels.
  init(
    _ text: String, address: (String) -> String?,
    size: @escaping (String) -> (width: Int, height: Int)? = { _ in nil }
  ) {
    guard let markdown = Markdown(text) else {
      (html, headings) = (.none, [])
      return
    }
    headings = Self.sections(markdown).compactMap(\.heading)
    markdown.readdress(address)
    var finish = MarkupFinish(markdown.html(), anchors: headings.map(\.anchor), size: size)
    html = HTML(markup: finish.run())
  }

  /// The sections of a text, in order.
  static func sections(of text: String) -> [Section] {
    guard let markdown = Markdown(text) else { return [] }
    return sections(markdown)
  }

  private static func sections(_ markdown: borrowing Markdown) -> [Section] {
    var sections = [Section(heading: nil)]
    var anchors = AnchorNames()
    var heading: String?
    func add(_ text: String) {
      if heading == nil { sections[sections.count - 1].text += text } else { heading? += text }
    }
    markdown.walk { node in
      switch node.kind {
      case CMARK_NODE_HEADING where node.begins: heading = ""
      case CMARK_NODE_HEADING:
        let text = heading ?? ""
        heading = nil
        sections.append(
          Section(heading: Heading(level: node.level, text: text, anchor: anchors.next(for: text))))
      case CMARK_NODE_TEXT, CMARK_NODE_CODE: add(node.literal)
      case CMARK_NODE_CODE_BLOCK: add(node.literal)
      case CMARK_NODE_SOFTBREAK, CMARK_NODE_LINEBREAK: add(" ")
      case CMARK_NODE_PARAGRAPH where !node.begins: add("\n")
      default: if !node.begins, node.isCell { add("  ") }
      }
    }
    return sections
  }
}

/// Names of headings, as GitHub makes them: small letters, digits, hyphens and underscores, with hyphens for
/// blanks; what comes again gets a number.
struct AnchorNames {
  private var counts: [String: Int] = [:]

  mutating func next(for heading: String) -> String {
    var name = ""
    for character in heading.lowercased() {
      if character.isLetter || character.isNumber || character == "-" || character == "_" {
        name.append(character)
      } else if character == " " {
        name.append("-")
      }
    }
    let count = counts[name, default: 0]
    counts[name] = count + 1
    return count == 0 ? name : "\(name)-\(count)"
  }
}

/// Adds to cmark's HTML what pages of the console have: names of headings, sizes of pictures, widths of a
/// table's columns, and in tables with more than two columns the head of its column on each cell, which
/// narrow screens show beside it. Tags are ours alone: cmark escapes the text, and leaves out the HTML
/// within it.
struct MarkupFinish {
  private let html: [UInt8]
  private var anchors: ArraySlice<String>
  private let size: (String) -> (width: Int, height: Int)?
  private var output: [UInt8] = []
  /// Heads of the present table, as escaped text.
  private var heads: [[UInt8]] = []
  private var column = 0

  init(_ html: [UInt8], anchors: [String], size: @escaping (String) -> (width: Int, height: Int)?) {
    (self.html, self.anchors, self.size) = (html, anchors[...], size)
    output.reserveCapacity(html.count + html.count / 4)
  }

  mutating func run() -> String {
    var rest = html[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      output += rest[..<start]
      guard let end = rest[start...].firstIndex(of: UInt8(ascii: ">")) else { break }
      let tag = String(decoding: rest[start...end], as: UTF8.self)
      rest = rest[(end + 1)...]
      write(tag, before: &rest)
    }
    output += rest
    return String(decoding: output, as: UTF8.self)
  }

  private mutating func write(_ tag: String, before rest: inout ArraySlice<UInt8>) {
    let name = tag.dropFirst().prefix { $0.isLetter || $0.isNumber }
    switch name {
    case "h1", "h2", "h3", "h4", "h5", "h6":
      output += "<\(name) id=\"\(HTML.escape(anchors.popFirst() ?? ""))\">".utf8
    case "pre":
      // Long lines scroll, for the keyboard as well.
      output += "<pre tabindex=\"0\">".utf8
    case "table":
      heads = []
      output += tag.utf8
      output += Self.columns(of: rest).utf8
    case "tr":
      column = 0
      output += tag.utf8
    case "th": writeHead(tag, before: &rest)
    case "td":
      let label = heads.count > 2 && column > 0 && column < heads.count ? heads[column] : []
      column += 1
      output += tag.dropLast().utf8
      if !label.isEmpty { output += Array(" data-label=\"".utf8) + label + [UInt8(ascii: "\"")] }
      output.append(UInt8(ascii: ">"))
    case "img": output += sized(tag).utf8
    default: output += tag.utf8
    }
  }

  /// The columns of the table that the HTML begins with. With the widths given first, rows that arrive
  /// later do not move those above them. A column gets a share by the mean length of its cells, 10 to 60
  /// bytes of it, and at least by its longest word, 30 bytes of it.
  private static func columns(of html: ArraySlice<UInt8>) -> String {
    var (rest, column, rows) = (html, 0, 0)
    var cell: [UInt8] = []
    var columns: [(sum: Int, word: Int)] = []
    while let start = rest.firstIndex(of: UInt8(ascii: "<")),
      let end = rest[start...].firstIndex(of: UInt8(ascii: ">"))
    {
      cell += rest[..<start]
      let tag = String(decoding: rest[start...end], as: UTF8.self)
      rest = rest[(end + 1)...]
      switch tag {
      case "<tr>": (column, rows) = (0, rows + 1)
      case "</th>", "</td>":
        if column == columns.count { columns.append((0, 0)) }
        let word = cell.split(separator: UInt8(ascii: " ")).lazy.map(\.count).max() ?? 0
        columns[column] = (columns[column].sum + cell.count, max(columns[column].word, word))
        column += 1
      case "</table>": rest = []
      default: if tag.hasPrefix("<td") || tag.hasPrefix("<th") { cell = [] }
      }
    }
    let shares = columns.map { max(10, min($0.sum / max(rows, 1), 60), min($0.word, 30)) }
    let all = shares.reduce(0, +)
    return "\n<colgroup>" + shares.map { "<col width=\"\($0 * 100 / all)%\">" }.joined() + "</colgroup>"
  }

  /// An empty head is a cell: it names nothing.
  private mutating func writeHead(_ tag: String, before rest: inout ArraySlice<UInt8>) {
    let end = Array("</th>".utf8)
    guard let place = rest.firstRange(of: end) else {
      output += tag.utf8
      return
    }
    let content = rest[..<place.lowerBound]
    rest = rest[place.upperBound...]
    var text: [UInt8] = []
    var isTag = false
    for byte in content {
      if byte == UInt8(ascii: "<") { isTag = true }
      if !isTag { text.append(byte) }
      if byte == UInt8(ascii: ">") { isTag = false }
    }
    heads.append(text)
    if text.isEmpty {
      output += "<td></td>".utf8
    } else {
      output += Array(tag.utf8) + content + end
    }
  }

  private func sized(_ tag: String) -> String {
    let start = "src=\""
    guard let range = tag.firstRange(of: start),
      let size = size(String(tag[range.upperBound...].prefix { $0 != "\"" }))
    else { return tag }
    return tag.replacing(
      start, with: "width=\"\(size.width)\" height=\"\(size.height)\" \(start)", maxReplacements: 1)
  }
}
