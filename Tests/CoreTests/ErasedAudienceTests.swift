import BorealisBase
import Testing

@testable import Core

/// Names that are removed from stored push objects.
@Suite struct ErasedAudienceTests {
  private static let audience = ErasedAudience(
    aliases: ["alice"], ids: ["0123456789abcdef012"], tags: ["hers"])

  private static func object(_ audience: String) -> [UInt8] {
    Array(#"{"platform":"all","audience":\#(audience),"message":{"msg_content":"alice"}}"#.utf8)
  }

  @Test(arguments: [
    // Nothing to remove, or only what looks like it.
    (#""all""#, nil), (#"{"alias":["bob"]}"#, nil), (#"{"tag":["alice"]}"#, nil),
    (#"{"alias":["Alice"]}"#, nil),
    // Others stay.
    (#"{"alias":["alice","bob"]}"#, #"{"alias":["bob"]}"#),
    (#"{"alias":["al\u0069ce","bob"]}"#, #"{"alias":["bob"]}"#),
    (
      #"{"registration_id":["0123456789abcdef012","1123456789abcdef012"]}"#,
      #"{"registration_id":["1123456789abcdef012"]}"#
    ),
    (#"{"tag":["hers","his"],"alias":["bob"]}"#, #"{"tag":["his"],"alias":["bob"]}"#),
    (#"{"tag":["his"],"tag_not":["hers"]}"#, #"{"tag":["his"]}"#),
    (#"{"tag_not":["hers"]}"#, #""all""#),
    // Without the name it would mean more devices than before.
    (#"{"alias":["alice"]}"#, ""), (#"{"tag":["his"],"alias":["alice"]}"#, ""),
    (#"{"tag_and":["his","hers"]}"#, ""),
  ])
  func `Whom a push object means without the names`(before: String, after: String?) {
    let outcome = Self.audience.removed(from: Self.object(before))
    switch after {
    case nil: #expect(outcome == .unchanged)
    case "": #expect(outcome == .nobodyLeft)
    case let after?: #expect(outcome == .changed(Self.object(after)))
    }
  }
}
