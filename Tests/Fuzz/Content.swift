import PushBase
import PushDomain

/// The form of a push's content in the database: what decodes must encode to the bytes it came from.
@Sendable func fuzzContent(_ bytes: [UInt8]) {
  guard let content = PushContent(decoding: bytes) else { return }
  check(content.encode() == bytes, "encoding decoded content gives its bytes")
  let again = PushContent(variants: content.variants, overrides: content.overrides)
  check(again == content, "decoded content keeps the rules")
  for platform in Platform.allCases {
    let variant = content.variant(for: platform)
    check((variant != nil) == content.platforms.contains(platform), "the platforms are those with a variant")
    check(content.parts(for: platform) == variant?.parts ?? [], "the parts are those of the variant")
    let json = content.deviceJSON(platform: platform)
    check(json.first == UInt8(ascii: "{") && json.last == UInt8(ascii: "}"), "a device gets an object")
  }
}
