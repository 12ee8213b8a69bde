import BorealisBase

/// The sessions of one app at one gateway in short, so that gateway and home find out what they do not agree
/// about: for each 4096 registration numbers the exclusive or of a hash of each session. Both keep one; the
/// gateway sends its own as DIGEST, and the home asks for the sessions of the buckets that differ.
package struct SessionDigest: Sendable {
  private struct Bucket: Sendable {
    var hash: UInt64 = 0
    var sessions = 0
    var inFlight = 0
  }

  /// Buckets with sessions or pushes in flight.
  private var buckets: [UInt32: Bucket] = [:]

  /// Most buckets in one message, for the size of a frame.
  static let bucketsPerMessage = 8192

  /// No sessions.
  package init() {}

  /// The hash of a session: the same on all nodes and in all versions.
  package static func hash(_ handle: Handle, _ number: RegistrationNumber, isForeground: Bool) -> UInt64 {
    var value = mix(handle.incarnation.rawValue)
    value = mix(value ^ (UInt64(handle.slot) << 32 | UInt64(handle.generation)))
    return mix(value ^ (UInt64(number.rawValue) << 32 | UInt64(handle.loop) << 1 | (isForeground ? 1 : 0)))
  }

  /// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
  private static func mix(_ value: UInt64) -> UInt64 {
    var value = value &+ 0x9e37_79b9_7f4a_7c15
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }

  private static func index(_ number: RegistrationNumber) -> UInt32 {
    number.rawValue / ClusterLimits.bucketNumbers
  }

  /// Adds a session.
  package mutating func insert(_ handle: Handle, _ number: RegistrationNumber, isForeground: Bool) {
    change(number, sessions: 1, hash: Self.hash(handle, number, isForeground: isForeground))
  }

  /// Removes a session that was added with the same values.
  package mutating func remove(_ handle: Handle, _ number: RegistrationNumber, isForeground: Bool) {
    change(number, sessions: -1, hash: Self.hash(handle, number, isForeground: isForeground))
  }

  /// Counts pushes that are in flight to a registration's session, or no longer are.
  package mutating func addInFlight(_ count: Int, _ number: RegistrationNumber) {
    change(number, inFlight: count)
  }

  private mutating func change(
    _ number: RegistrationNumber, sessions: Int = 0, hash: UInt64 = 0, inFlight: Int = 0
  ) {
    let index = Self.index(number)
    var bucket = buckets[index] ?? Bucket()
    bucket.hash ^= hash
    bucket.sessions += sessions
    bucket.inFlight += inFlight
    assert(bucket.sessions >= 0 && bucket.inFlight >= 0, "only what was added is removed")
    buckets[index] = bucket.sessions == 0 && bucket.inFlight == 0 ? nil : bucket
  }

  /// What the other side is sent.
  package func messages() -> [DigestMessage] {
    let all = buckets.keys.sorted()
    var messages: [DigestMessage] = []
    var first: UInt32 = 0
    for start in stride(from: 0, to: max(1, all.count), by: Self.bucketsPerMessage) {
      let part = all[start..<min(start + Self.bucketsPerMessage, all.count)]
      let isLast = part.endIndex == all.count
      let last = isLast ? UInt32.max : part.last ?? .max
      messages.append(
        DigestMessage(
          first: first, last: last,
          buckets: part.compactMap { index in
            buckets[index].map {
              DigestMessage.Bucket(index: index, hash: $0.hash, inFlight: UInt32(clamping: $0.inFlight))
            }
          }))
      first = isLast ? last : last + 1
    }
    return messages
  }

  /// The buckets about which the two sides do not agree, in order.
  package func differing(from other: DigestMessage) -> [UInt32] {
    var theirs: [UInt32: DigestMessage.Bucket] = [:]
    for bucket in other.buckets { theirs[bucket.index] = bucket }
    let range = other.first...other.last
    let known = Set(buckets.keys.filter(range.contains)).union(theirs.keys)
    return known.filter { index in
      let (own, their) = (buckets[index], theirs[index])
      return own?.hash ?? 0 != their?.hash ?? 0
        || UInt32(clamping: own?.inFlight ?? 0) != their?.inFlight ?? 0
    }.sorted()
  }
}
