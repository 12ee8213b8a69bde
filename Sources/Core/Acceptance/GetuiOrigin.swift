import BorealisBase
import Storage

/// What a request of Getui's API says of its push beside the push itself.
package struct GetuiOrigin: Sendable, Equatable {
  /// The stored message that is sent; the same commit notes it, so that stopping one stops the other.
  package var task: MessageID?
  /// The group that the push counts under; empty for none. A stored message brings its own.
  package var groupName: String
  /// The digest of the request: under the same name only the same request is answered again. Nil for requests
  /// without a name.
  package var digest: RequestDigest?

  /// Puts an origin together.
  package init(task: MessageID? = nil, groupName: String = "", digest: RequestDigest? = nil) {
    (self.task, self.groupName, self.digest) = (task, groupName, digest)
  }

  /// The name under which a request is done once: it has a mark that names of JPush's requests cannot have.
  package static func name(ofRequest id: String) -> String { mark + id }

  /// The request that has a name; nil for one of JPush's.
  static func request(named name: String) -> String? {
    name.hasPrefix(mark) ? String(name.dropFirst(mark.count)) : nil
  }

  /// Whether a name is one of a request of Getui's API.
  static func isName(_ name: String) -> Bool { name.hasPrefix(mark) }

  private static let mark = "g:"
}

extension CIDRow {
  /// Whether this was the same request as one with a digest. Of requests without one nobody knows better.
  package func isSame(as digest: RequestDigest?) -> Bool { digest?.matches(self.digest) ?? true }
}
