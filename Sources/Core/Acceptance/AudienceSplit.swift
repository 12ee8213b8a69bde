import BorealisBase
import Model

/// Who of an audience gets a push at once, and who is the rest: of an A/B test, or with a canary. The members
/// are put in an order by a hash of their numbers and a seed; the first are the first group, and so on.
struct AudienceSplit: Sendable {
  /// Those who get it at once, of an A/B test by content; nobody is in two.
  let groups: [NumberSet]
  let rest: NumberSet

  /// How many of an audience take part: the share, rounded, but at least one for each content as long as
  /// there are so many.
  static func participants(of count: Int, in design: ABTestDesign) -> Int {
    min(count, max(design.contents.count, (count * design.share + 50) / 100))
  }

  init(_ audience: Recipients, by design: ABTestDesign, seed: UInt64) {
    let (taking, contents) = (Self.participants(of: audience.count, in: design), design.contents.count)
    // The first contents get one more each if it does not come out even.
    let ends = (0..<contents).map { place in
      (place + 1) * (taking / contents) + min(place + 1, taking % contents)
    }
    self.init(audience, ends, seed)
  }

  init(_ audience: Recipients, by canary: Canary, seed: UInt64) {
    self.init(audience, [canary.devices(of: audience.count)], seed)
  }

  private init(_ audience: Recipients, _ ends: [Int], _ seed: UInt64) {
    let members = audience.numbers
    groups = Self.cut(members.members(), at: ends, seed)
    rest = groups.reduce(into: members) { $0.subtract($1) }
  }

  /// Bits of the hash by which members are counted.
  private static let bits = 16

  /// The members between each end and the one before, in the order of their hashes. Only those are sorted
  /// whose first bits are those of an end, so that a million members take milliseconds.
  private static func cut(_ members: [RegistrationNumber], at ends: [Int], _ seed: UInt64) -> [NumberSet] {
    var counts = [Int](repeating: 0, count: 1 << bits)
    for member in members { counts[bucket(member, seed)] += 1 }
    // The group of each bucket, or -1 if it has members of several.
    var groups = [Int](repeating: -1, count: counts.count)
    var starts = counts
    var before = 0
    for place in counts.indices {
      starts[place] = before
      let (first, last) = (group(of: before, ends), group(of: before + max(counts[place], 1) - 1, ends))
      if first == last { groups[place] = first }
      before += counts[place]
    }
    var found = [[RegistrationNumber]](repeating: [], count: ends.count + 1)
    var mixed: [(hash: UInt64, member: RegistrationNumber)] = []
    for member in members {
      let hash = hash(member, seed)
      let group = groups[Int(hash >> (64 - UInt64(bits)))]
      if group < 0 { mixed.append((hash, member)) } else if group < ends.count { found[group].append(member) }
    }
    mixed.sort { $0.hash < $1.hash }
    var (bucket, place) = (-1, 0)
    for (hash, member) in mixed {
      let own = Int(hash >> (64 - UInt64(bits)))
      if own != bucket { (bucket, place) = (own, starts[own]) }
      found[group(of: place, ends)].append(member)
      place += 1
    }
    return found.dropLast().map { NumberSet($0) }
  }

  private static func group(of place: Int, _ ends: [Int]) -> Int {
    ends.firstIndex { place < $0 } ?? ends.count
  }

  private static func bucket(_ member: RegistrationNumber, _ seed: UInt64) -> Int {
    Int(hash(member, seed) >> (64 - UInt64(bits)))
  }

  /// SplitMix64 of the number behind the seed: different for different numbers.
  private static func hash(_ member: RegistrationNumber, _ seed: UInt64) -> UInt64 {
    var mixed = seed &+ (UInt64(member.rawValue) &+ 1) &* 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
