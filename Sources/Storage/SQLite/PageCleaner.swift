import Glibc

/// Overwrites what a file of SQLite holds beside its rows. SQLite zeroes what it deletes (`secure_delete`),
/// but when it moves rows to another page of a tree, copies of them may stay in the part of the page between
/// the list of its rows and the first row, which nobody reads.
///
/// Only for the thread of the store's writer, while it holds the write lock and the whole log is in the file:
/// then no page of the file is written by anybody else. What it overwrites means nothing to SQLite, so a
/// crash halfway does no harm.
final class PageCleaner {
  /// Pages that are looked at in one step: some milliseconds.
  static let pagesInStep = 1024
  /// From this page number on (128 GiB), the first byte of another page may look like that of a page of a
  /// tree.
  private static let most = 1 << 25

  /// Closing any descriptor of the file would end the process's locks on it: it stays open.
  private let file: Int32
  private let pageSize: Int

  init(path: String) throws(StorageError) {
    file = open(path, O_RDWR | O_CLOEXEC)
    guard file >= 0 else { throw .ofSystem(errno, "cannot open \(path)") }
    var head = [UInt8](repeating: 0, count: 2)
    guard pread(file, &head, 2, 16) == 2 else { throw StorageError(.io, "cannot read \(path)") }
    let size = Int(head[0]) << 8 | Int(head[1])
    pageSize = size == 1 ? 65_536 : size
  }

  /// Cleans the pages from one on, counted from 0; returns where the next step goes on, nil at the end.
  func clean(from first: Int) throws(StorageError) -> Int? {
    var bytes = [UInt8](repeating: 0, count: Self.pagesInStep * pageSize)
    let count = pread(file, &bytes, bytes.count, off_t(first * pageSize))
    guard count >= 0 else { throw .ofSystem(errno, "cannot read the database") }
    let pages = min(count / pageSize, max(0, Self.most - first))
    let zeros = [UInt8](repeating: 0, count: pageSize)
    for page in 0..<pages {
      let start = page * pageSize
      let unused = Self.unused(bytes[start..<start + pageSize], isFirst: first + page == 0)
      guard !unused.isEmpty, bytes[unused].contains(where: { $0 != 0 }) else { continue }
      let offset = off_t(first * pageSize + unused.lowerBound)
      guard pwrite(file, zeros, unused.count, offset) == unused.count else {
        throw .ofSystem(errno, "cannot write the database")
      }
    }
    guard pages == Self.pagesInStep else {
      guard fdatasync(file) == 0 else { throw .ofSystem(errno, "cannot sync the database") }
      return nil
    }
    return first + pages
  }

  /// The part of a page of a tree that no row uses (sqlite.org/fileformat2.html, section 1.6); empty for
  /// other pages.
  static func unused(_ page: ArraySlice<UInt8>, isFirst: Bool) -> Range<Int> {
    let none = page.startIndex..<page.startIndex
    let head = page.startIndex + (isFirst ? 100 : 0)
    func number(_ offset: Int) -> Int { Int(page[head + offset]) << 8 | Int(page[head + offset + 1]) }
    let headSize: Int
    switch page[head] {
    case 2, 5: headSize = 12
    case 10, 13: headSize = 8
    default: return none
    }
    let start = head + headSize + 2 * number(3)
    let end = page.startIndex + (number(5) == 0 ? 65_536 : number(5))
    return start <= end && end <= page.endIndex ? start..<end : none
  }
}
