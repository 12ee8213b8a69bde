import BorealisBase
import CRoaring

/// A set of registration numbers of one app, as a Roaring bitmap: a dense million takes bytes to 125 KB, a
/// sparse set two bytes a member. A value: copies share storage until one of them changes. The sets of a
/// single push, which have one member or none, need no bitmap.
package struct NumberSet: Sendable {
  /// The members; nil if they are none, or the one in `single`.
  private var storage: Storage?
  /// The only member, if there is no storage.
  private var single: RegistrationNumber?

  /// Owns the C bitmap. Shared storage is only ever read (`uniquely` copies before a change), and reading a
  /// Roaring bitmap changes nothing in it, so threads may hold copies of one value.
  private final class Storage: @unchecked Sendable {
    let bitmap: UnsafeMutablePointer<roaring_bitmap_t>

    init(_ bitmap: UnsafeMutablePointer<roaring_bitmap_t>?) {
      guard let bitmap else { preconditionFailure("out of memory") }
      self.bitmap = bitmap
    }

    deinit { roaring_bitmap_free(bitmap) }
  }

  private init(_ bitmap: UnsafeMutablePointer<roaring_bitmap_t>?) { storage = Storage(bitmap) }

  /// The empty set.
  package init() {}

  /// The set of the given numbers, in any order.
  package init(_ numbers: some Sequence<RegistrationNumber>) {
    var iterator = numbers.makeIterator()
    single = iterator.next()
    guard let second = iterator.next() else { return }
    let bitmap = uniquely()
    roaring_bitmap_add(bitmap, second.rawValue)
    while let number = iterator.next() { roaring_bitmap_add(bitmap, number.rawValue) }
  }

  /// Reads what `serialized` wrote; nil when the bytes are not a bitmap that keeps all rules of the format.
  package init?(serialized bytes: [UInt8]) {
    if let member = RoaringForm.onlyMember(of: bytes) {
      single = member
      return
    }
    guard RoaringForm.isValid(bytes) else { return nil }
    let bitmap = bytes.withUnsafeBytes { buffer in
      buffer.withMemoryRebound(to: CChar.self) {
        roaring_bitmap_portable_deserialize_safe($0.baseAddress, $0.count)
      }
    }
    guard let bitmap else { return nil }
    storage = Storage(bitmap)
  }

  /// The portable Roaring format (github.com/RoaringBitmap/RoaringFormatSpec), run-compressed.
  package func serialized() -> [UInt8] {
    guard let storage else { return RoaringForm.bytes(of: single) }
    let compact = Storage(roaring_bitmap_copy(storage.bitmap))
    roaring_bitmap_run_optimize(compact.bitmap)
    let size = Int(roaring_bitmap_portable_size_in_bytes(compact.bitmap))
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      buffer.withMemoryRebound(to: CChar.self) {
        count = Int(roaring_bitmap_portable_serialize(compact.bitmap, $0.baseAddress))
      }
    }
  }

  /// A bitmap with the members, which nobody else has.
  private mutating func uniquely() -> UnsafeMutablePointer<roaring_bitmap_t> {
    if let bitmap = storage?.bitmap {
      if isKnownUniquelyReferenced(&storage) { return bitmap }
      let copy = Storage(roaring_bitmap_copy(bitmap))
      storage = copy
      return copy.bitmap
    }
    let new = Storage(roaring_bitmap_create())
    if let single { roaring_bitmap_add(new.bitmap, single.rawValue) }
    (storage, single) = (new, nil)
    return new.bitmap
  }

  /// Adds a number.
  package mutating func insert(_ number: RegistrationNumber) {
    if storage == nil, single == nil || single == number {
      single = number
    } else {
      roaring_bitmap_add(uniquely(), number.rawValue)
    }
  }

  /// Removes a number; true if it was a member.
  @discardableResult
  package mutating func remove(_ number: RegistrationNumber) -> Bool {
    guard storage == nil else { return roaring_bitmap_remove_checked(uniquely(), number.rawValue) }
    guard single == number else { return false }
    single = nil
    return true
  }

  /// Whether a number is in the set.
  package func contains(_ number: RegistrationNumber) -> Bool {
    storage.map { roaring_bitmap_contains($0.bitmap, number.rawValue) } ?? (single == number)
  }

  /// The member with this many smaller members, nil if there is none.
  package func member(at place: Int) -> RegistrationNumber? {
    guard let storage else { return place == 0 ? single : nil }
    guard let place = UInt32(exactly: place) else { return nil }
    var number: UInt32 = 0
    return roaring_bitmap_select(storage.bitmap, place, &number) ? RegistrationNumber(number) : nil
  }

  /// How many members are smaller than a number.
  package func place(of number: RegistrationNumber) -> Int {
    guard let storage else { return single.map { $0 < number ? 1 : 0 } ?? 0 }
    return number.rawValue == 0 ? 0 : Int(roaring_bitmap_rank(storage.bitmap, number.rawValue - 1))
  }

  /// How many numbers the set holds.
  package var count: Int {
    storage.map { Int(roaring_bitmap_get_cardinality($0.bitmap)) } ?? (single == nil ? 0 : 1)
  }

  /// Whether the set holds nothing.
  package var isEmpty: Bool { storage.map { roaring_bitmap_is_empty($0.bitmap) } ?? (single == nil) }

  /// About the bytes that its members take.
  var bytes: Int { storage.map { Int(roaring_bitmap_portable_size_in_bytes($0.bitmap)) } ?? 0 }

  /// About the most bytes that some of its members take, in containers for 65,536 numbers each
  /// (github.com/RoaringBitmap/RoaringFormatSpec).
  var bytesOfSubset: Int {
    guard let first = member(at: 0)?.rawValue, let last = member(at: count - 1)?.rawValue else { return 0 }
    return min(2 * count, (Int(last >> 16) - Int(first >> 16) + 1) * 8192)
  }

  /// Keeps what both hold.
  package mutating func formIntersection(_ other: NumberSet) {
    if storage != nil, let others = other.storage {
      roaring_bitmap_and_inplace(uniquely(), others.bitmap)
    } else {
      self = intersection(other)
    }
  }

  /// Adds the numbers of another set.
  package mutating func formUnion(_ other: NumberSet) {
    if storage != nil, let others = other.storage {
      roaring_bitmap_or_inplace(uniquely(), others.bitmap)
    } else if other.storage == nil {
      if let number = other.single { insert(number) }
    } else {
      let own = single
      self = other
      if let own { insert(own) }
    }
  }

  /// Drops what the other holds.
  package mutating func subtract(_ other: NumberSet) {
    if storage != nil, let others = other.storage {
      roaring_bitmap_andnot_inplace(uniquely(), others.bitmap)
    } else if let single {
      if other.contains(single) { self.single = nil }
    } else if let number = other.single {
      remove(number)
    }
  }

  /// How many numbers both hold.
  package func intersectionCount(_ other: NumberSet) -> Int {
    guard let storage, let others = other.storage else { return intersection(other).count }
    return Int(roaring_bitmap_and_cardinality(storage.bitmap, others.bitmap))
  }

  /// What both hold.
  package func intersection(_ other: NumberSet) -> NumberSet {
    if let storage, let others = other.storage {
      return NumberSet(roaring_bitmap_and(storage.bitmap, others.bitmap))
    }
    let (one, many) = storage == nil ? (single, other) : (other.single, self)
    return NumberSet(one.flatMap { many.contains($0) ? [$0] : nil } ?? [])
  }

  /// What either holds.
  package func union(_ other: NumberSet) -> NumberSet {
    if let storage, let others = other.storage {
      return NumberSet(roaring_bitmap_or(storage.bitmap, others.bitmap))
    }
    var all = self
    all.formUnion(other)
    return all
  }

  /// What the other does not hold.
  package func subtracting(_ other: NumberSet) -> NumberSet {
    if let storage, let others = other.storage {
      return NumberSet(roaring_bitmap_andnot(storage.bitmap, others.bitmap))
    }
    var rest = self
    rest.subtract(other)
    return rest
  }

  /// The members that are smaller than a number.
  func below(_ number: RegistrationNumber) -> NumberSet {
    guard storage != nil else { return single.map { $0 < number } == true ? self : NumberSet() }
    var found = self
    roaring_bitmap_remove_range_closed(found.uniquely(), number.rawValue, .max)
    return found
  }

  /// Converts consecutive members into runs, for sets that are stored for long.
  package mutating func compact() {
    if storage != nil { roaring_bitmap_run_optimize(uniquely()) }
  }

  /// Calls `body` with the members in ascending order, at most `count` of them at a time.
  package func forEachSlice(of count: Int, _ body: ([RegistrationNumber]) -> Void) {
    var start: RegistrationNumber? = RegistrationNumber(0)
    while let from = start {
      let slice = members(from: from, limit: count)
      body(slice)
      start =
        slice.count < count ? nil : slice.last.flatMap { $0.rawValue < .max ? .init($0.rawValue + 1) : nil }
    }
  }

  /// The smallest members from `start` on, at most `limit`, in ascending order.
  package func members(from start: RegistrationNumber = .init(0), limit: Int = .max) -> [RegistrationNumber] {
    guard let storage else { return single.map { $0 >= start && limit > 0 ? [$0] : [] } ?? [] }
    guard let iterator = roaring_create_iterator(storage.bitmap) else { return [] }
    defer { roaring_free_uint32_iterator(iterator) }
    guard roaring_move_uint32_iterator_equalorlarger(iterator, start.rawValue) else { return [] }
    var found: [RegistrationNumber] = []
    while found.count < limit, iterator.pointee.has_value {
      found.append(RegistrationNumber(iterator.pointee.current_value))
      roaring_advance_uint32_iterator(iterator)
    }
    return found
  }

  /// The members from `start` on as bits of `count` words, the smallest in the lowest bit of the first word.
  func words(from start: Int, count: Int) -> [UInt64] {
    var words = [UInt64](repeating: 0, count: count)
    let range = start..<start + 64 * count
    guard let storage else {
      if let place = single.map({ Int($0.rawValue) }), range.contains(place) {
        words[(place - start) / 64] = 1 << UInt64((place - start) % 64)
      }
      return words
    }
    guard let first = UInt32(exactly: start), let iterator = roaring_create_iterator(storage.bitmap) else {
      return words
    }
    defer { roaring_free_uint32_iterator(iterator) }
    guard roaring_move_uint32_iterator_equalorlarger(iterator, first) else { return words }
    let members = [UInt32](unsafeUninitializedCapacity: range.count) { buffer, found in
      found = Int(roaring_read_uint32_iterator(iterator, buffer.baseAddress, UInt32(range.count)))
    }
    for member in members {
      guard range.contains(Int(member)) else { break }
      words[(Int(member) - start) / 64] |= 1 << UInt64((Int(member) - start) % 64)
    }
    return words
  }
}
