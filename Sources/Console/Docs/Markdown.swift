import CCommonMark
import Glibc

/// A text in Markdown, read by cmark-gfm: CommonMark with GitHub's tables. Only the extension for tables is
/// used: others change tables of the library while they read, which threads would share.
struct Markdown: ~Copyable {
  private let root: OpaquePointer

  /// Reads a text; nil if there is no memory.
  init?(_ text: String) {
    guard Self.isReady, let parser = cmark_parser_new(CMARK_OPT_DEFAULT) else { return nil }
    defer { cmark_parser_free(parser) }
    if let table = cmark_find_syntax_extension("table") {
      cmark_parser_attach_syntax_extension(parser, table)
    }
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { cmark_parser_feed(parser, $0.baseAddress, $0.count) }
    }
    guard let root = cmark_parser_finish(parser) else { return nil }
    self.root = root
  }

  deinit { cmark_node_free(root) }

  private static let isReady: Bool = {
    cmark_gfm_core_extensions_ensure_registered()
    return true
  }()

  /// A part of the text, such as a heading or a link, at its beginning or at its end.
  struct Node {
    fileprivate let pointer: OpaquePointer
    /// Whether this is its beginning. Parts without others inside have no end.
    let begins: Bool

    var kind: cmark_node_type { cmark_node_get_type(pointer) }
    /// Whether it is a cell of a table.
    var isCell: Bool { String(cString: cmark_node_get_type_string(pointer)) == "table_cell" }
    var level: Int { Int(cmark_node_get_heading_level(pointer)) }
    /// The text of a part that consists of nothing else.
    var literal: String { cmark_node_get_literal(pointer).map { String(cString: $0) } ?? "" }
    /// Where a link leads, or a picture is.
    var url: String { cmark_node_get_url(pointer).map { String(cString: $0) } ?? "" }
  }

  /// Calls a function for all parts in order.
  borrowing func walk(_ visit: (Node) -> Void) {
    guard let walk = cmark_iter_new(root) else { return }
    defer { cmark_iter_free(walk) }
    while true {
      let event = cmark_iter_next(walk)
      guard event != CMARK_EVENT_DONE, let pointer = cmark_iter_get_node(walk) else { return }
      visit(Node(pointer: pointer, begins: event == CMARK_EVENT_ENTER))
    }
  }

  /// Puts other addresses into links and pictures. A link whose `address` is nil becomes plain text, a
  /// picture its description.
  borrowing func readdress(_ address: (String) -> String?) {
    var linked: [Node] = []
    walk { node in
      if node.begins, node.kind == CMARK_NODE_LINK || node.kind == CMARK_NODE_IMAGE { linked.append(node) }
    }
    for node in linked {
      if let address = address(node.url) {
        cmark_node_set_url(node.pointer, address)
        continue
      }
      while let child = cmark_node_first_child(node.pointer),
        cmark_node_insert_before(node.pointer, child) == 1
      {}
      // Freeing a node frees what is in it, of which the list may have a part.
      if cmark_node_first_child(node.pointer) == nil { cmark_node_free(node.pointer) }
    }
  }

  /// The text as HTML. HTML within the text and addresses that could run a script are left out (cmark's safe
  /// mode, which is its default).
  borrowing func html() -> [UInt8] {
    guard let text = cmark_render_html(root, CMARK_OPT_DEFAULT, nil) else { return [] }
    defer { free(text) }
    return Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }
}
