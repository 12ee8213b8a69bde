extension Array<UInt8> {
  /// The bytes behind a byte order mark of UTF-8, if they begin with one, as some editors write it.
  public var withoutByteOrderMark: [UInt8] {
    starts(with: [0xEF, 0xBB, 0xBF]) ? Array(dropFirst(3)) : self
  }
}
