/// Why a content cannot be opened.
package enum ContentError: Int, Error, Sendable {
  /// The key that it names is not there (yet).
  case unknownKey = 6040
  /// The bytes are not of the coding's form, or too short.
  case malformed = 6041
  /// The key is there, but does not open it: it was changed, cut, or made for another key.
  case damaged = 6042
}
