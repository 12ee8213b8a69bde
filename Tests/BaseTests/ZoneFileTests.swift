import Foundation
import Testing

@testable import BorealisBase

/// Files of the IANA database, as the package tzdata has them.
@Suite struct ZoneFileTests {
  private static func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/\(name)")))
  }

  /// Moments before, between and after the changes that the files list, and what Python makes of them.
  @Test(
    arguments: [
      ("Asia/Shanghai", 0, 28_800), ("Asia/Shanghai", 1_900_000_000, 28_800),
      ("Europe/Berlin", 1_806_195_599, 3600), ("Europe/Berlin", 1_806_195_600, 7200),
      ("Europe/Berlin", 4_102_444_800, 3600), ("Europe/Berlin", 4_118_000_000, 7200),
      ("America/New_York", 1_805_007_600, -14_400), ("America/New_York", 4_080_000_000, -14_400),
      ("America/New_York", -2_000_000_000, -18_000), ("Australia/Lord_Howe", 4_110_000_000, 39_600),
      ("Asia/Kathmandu", 1_900_000_000, 20_700), ("Pacific/Apia", 1_325_239_199, -36_000),
      ("Pacific/Apia", 1_325_239_200, 50_400), ("Pacific/Kiritimati", 1_900_000_000, 50_400),
      ("Europe/Dublin", 4_102_444_800, 0), ("Europe/Dublin", 4_118_000_000, 3600),
      ("America/Santiago", 4_102_444_800, -10_800), ("America/Santiago", 4_118_000_000, -14_400),
      ("Etc/GMT+12", 0, -43_200), ("UTC", 9_000_000_000, 0),
    ] as [(String, Int64, Int64)])
  func `Offsets are those of the database`(name: String, second: Int64, offset: Int64) throws {
    let zone = try #require(ZoneFile(try Self.bytes(name)))
    #expect(zone.offset(at: second) == offset)
  }

  /// The rule at the end says what the changes say as far as these go.
  @Test func `Rules continue what the changes began`() throws {
    let zone = try #require(ZoneFile(try Self.bytes("Europe/Berlin")))
    let rule = try #require(ZoneRule("CET-1CEST,M3.5.0,M10.5.0/3"))
    for second in stride(from: 1_000_000_000 as Int64, to: 5_000_000_000, by: 86_400 * 5 + 1) {
      #expect(zone.offset(at: second) == rule.offset(at: second), "\(second)")
    }
  }

  /// Moments of 2027, just before and at each change.
  @Test(
    arguments: [
      ("CET-1CEST,M3.5.0,M10.5.0/3", 1_806_195_600, 3600, 7200),
      ("EST5EDT,M3.2.0,M11.1.0", 1_805_007_600, -18_000, -14_400),
      ("EST5EDT,M3.2.0,M11.1.0", 1_825_567_200, -14_400, -18_000),
      // South of the equator summer is over the new year.
      ("AEST-10AEDT,M10.1.0,M4.1.0/3", 1_806_768_000, 39_600, 36_000),
      // The last day of February and the first of March, in years with and without a leap day.
      ("A0B,J60/0,J61/0", 1_803_859_200, 0, 3600), ("A0B,J60/0,J61/0", 1_835_481_600, 0, 3600),
      ("A0B,59/0,60/0", 1_803_859_200, 0, 3600),
      ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 1_806_195_600, -7200, -3600),
    ] as [(String, Int64, Int64, Int64)])
  func `Clocks change at the moment of the rule`(
    text: String, change: Int64, before: Int64, after: Int64
  ) throws {
    let rule = try #require(ZoneRule(text))
    #expect(rule.offset(at: change - 1) == before)
    #expect(rule.offset(at: change) == after)
  }

  @Test(arguments: [
    "", "CET", "CET-25", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
    "CET-1CEST,M3.6.0,M4.5.0",
    "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J5", "CET-1CEST,366,5", "<CET-1", "CET-1 ",
    "CET-1CEST,M3.5.0,M10.5.0/168",
    "1CET", "CET-1:60", "CET-1CEST,M3.5.0,M10.5.0,",
  ])
  func `What is no rule is none`(text: String) { #expect(ZoneRule(text) == nil) }

  /// No part of a file traps or passes for a whole one, and neither does a file with a damaged byte trap.
  @Test(arguments: ["Europe/Berlin", "UTC"]) func `Damaged files are refused or read`(name: String) throws {
    let bytes = try Self.bytes(name)
    for count in 0..<bytes.count { #expect(ZoneFile(Array(bytes[0..<count])) == nil, "\(count)") }
    for place in bytes.indices {
      var damaged = bytes
      damaged[place] ^= 0x81
      if let zone = ZoneFile(damaged) { _ = zone.offset(at: .max / 4) }
    }
  }
}
