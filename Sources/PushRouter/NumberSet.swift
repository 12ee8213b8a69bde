import CRoaring
import PushBase

/// A set of registration numbers of one app, as a Roaring bitmap: a dense million takes bytes to 125 KB, a sparse set
/// two bytes a member. A value: copies share storage until one of them changes.
public struct NumberSet: Sendable {
  private var storage: Storage

  /// Owns the C bitmap. Shared storage is only ever read (`uniquely` copies before a change), and reading a Roaring
  /// bitmap changes nothing in it, so threads may hold copies of one value.
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
  public init() { self.init(roaring_bitmap_create()) }

  /// The set of the given numbers, in any order.
  public init(_ numbers: some Sequence<RegistrationNumber>) {
    self.init()
    for number in numbers { roaring_bitmap_add(storage.bitmap, number.rawValue) }
  }

  /// Reads what `serialized` wrote; nil when the bytes are not a bitmap that keeps all rules of the format.
  public init?(serialized bytes: [UInt8]) {
    guard RoaringForm.isValid(bytes) else { return nil }
    let bitmap = bytes.withUnsafeBytes { buffer in
      buffer.withMemoryRebound(to: CChar.self) {
        roaring_bitmap_portable_deserialize_safe($0.baseAddress, $0.count)
      }
    }
    guard let bitmap else { return nil }
    self.init(bitmap)
  }

  /// The portable Roaring format (github.com/RoaringBitmap/RoaringFormatSpec), run-compressed.
  public func serialized() -> [UInt8] {
    let compact = Storage(roaring_bitmap_copy(storage.bitmap))
    roaring_bitmap_run_optimize(compact.bitmap)
    let size = Int(roaring_bitmap_portable_size_in_bytes(compact.bitmap))
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      buffer.withMemoryRebound(to: CChar.self) {
        count = Int(roaring_bitmap_portable_serialize(compact.bitmap, $0.baseAddress))
      }
    }
  }

  private mutating func uniquely() -> UnsafeMutablePointer<roaring_bitmap_t> {
    if !isKnownUniquelyReferenced(&storage) { storage = Storage(roaring_bitmap_copy(storage.bitmap)) }
    return storage.bitmap
  }

  /// Adds a number.
  public mutating func insert(_ number: RegistrationNumber) {
    roaring_bitmap_add(uniquely(), number.rawValue)
  }

  /// Removes a number; true if it was a member.
  @discardableResult
  public mutating func remove(_ number: RegistrationNumber) -> Bool {
    roaring_bitmap_remove_checked(uniquely(), number.rawValue)
  }

  /// Whether a number is in the set.
  public func contains(_ number: RegistrationNumber) -> Bool {
    roaring_bitmap_contains(storage.bitmap, number.rawValue)
  }

  /// The member with this many smaller members, nil if there is none.
  public func member(at place: Int) -> RegistrationNumber? {
    guard let place = UInt32(exactly: place) else { return nil }
    var number: UInt32 = 0
    return roaring_bitmap_select(storage.bitmap, place, &number) ? RegistrationNumber(number) : nil
  }

  /// How many members are smaller than a number.
  public func place(of number: RegistrationNumber) -> Int {
    number.rawValue == 0 ? 0 : Int(roaring_bitmap_rank(storage.bitmap, number.rawValue - 1))
  }

  /// How many numbers the set holds.
  public var count: Int { Int(roaring_bitmap_get_cardinality(storage.bitmap)) }

  /// Whether the set holds nothing.
  public var isEmpty: Bool { roaring_bitmap_is_empty(storage.bitmap) }

  /// Keeps what both hold.
  public mutating func formIntersection(_ other: NumberSet) {
    roaring_bitmap_and_inplace(uniquely(), other.storage.bitmap)
  }

  /// Takes in what the other holds.
  public mutating func formUnion(_ other: NumberSet) {
    roaring_bitmap_or_inplace(uniquely(), other.storage.bitmap)
  }

  /// Drops what the other holds.
  public mutating func subtract(_ other: NumberSet) {
    roaring_bitmap_andnot_inplace(uniquely(), other.storage.bitmap)
  }

  /// How many numbers both hold.
  public func intersectionCount(_ other: NumberSet) -> Int {
    Int(roaring_bitmap_and_cardinality(storage.bitmap, other.storage.bitmap))
  }

  /// What both hold.
  public func intersection(_ other: NumberSet) -> NumberSet {
    NumberSet(roaring_bitmap_and(storage.bitmap, other.storage.bitmap))
  }

  /// What either holds.
  public func union(_ other: NumberSet) -> NumberSet {
    NumberSet(roaring_bitmap_or(storage.bitmap, other.storage.bitmap))
  }

  /// What the other does not hold.
  public func subtracting(_ other: NumberSet) -> NumberSet {
    NumberSet(roaring_bitmap_andnot(storage.bitmap, other.storage.bitmap))
  }

  /// Converts consecutive members into runs, for sets that are stored for long.
  public mutating func compact() { roaring_bitmap_run_optimize(uniquely()) }

  /// The smallest members from `start` on, at most `limit`, in ascending order.
  public func members(from start: RegistrationNumber = .init(0), limit: Int = .max) -> [RegistrationNumber] {
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
}
