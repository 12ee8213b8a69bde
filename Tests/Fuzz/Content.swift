import BorealisBase
import Channels
import Model

/// The form of a push's content in the database: what decodes must encode to the bytes it came from.
@Sendable func fuzzContent(_ bytes: [UInt8]) {
  guard let content = PushContent(decoding: bytes) else { return }
  // The form of version 2 is read and not written any more.
  check(bytes.first == 2 || content.encode() == bytes, "encoding decoded content gives its bytes")
  check(PushContent(decoding: content.encode()) == content, "what is written is read")
  let again = PushContent(
    variants: content.variants, forChannels: content.forChannels, overrides: content.overrides)
  check(again == content, "decoded content keeps the rules")
  for platform in Platform.allCases {
    let variant = content.variant(for: platform)
    let hasContent = variant != nil || content.forChannels.contains { $0.platforms.contains(platform) }
    check(hasContent == content.platforms.contains(platform), "the platforms are those with content")
    let vendors: PushParts = content.hasVendorNotification(on: platform) ? .forVendors : []
    check(
      content.parts(for: platform) == (variant?.parts ?? []).union(vendors),
      "the parts are those of the variant and of the vendors' channels")
    let json = content.deviceJSON(platform: platform)
    check(json.first == UInt8(ascii: "{") && json.last == UInt8(ascii: "}"), "a device gets an object")
  }
  let apple = content.apple
  let same = PushContent(variants: [], apple: apple)
  check(
    apple.isEmpty || same.content(for: .apns) == content.content(for: .apns), "what Apple gets has one form")
  for notification in apple { checkForApple(notification) }
}

/// What every notification for Apple keeps, wherever it comes from.
@Sendable func checkForApple(_ notification: APNsNotification) {
  var payload: [UInt8] = []
  notification.render(messageID: MessageID(1 << 53 - 1), badge: BadgeChange.range.upperBound, into: &payload)
  check(payload.count <= notification.payload.maximumBytes, "a payload keeps its bound")
  check(payload.count <= notification.type.maximumPayload, "a payload keeps Apple's limit")
  let collapse = notification.collapseID(of: MessageID(.max))
  check((1...64).contains(collapse?.count ?? 1), "a collapse ID keeps Apple's limit")
  check(
    (notification.badge.applied(to: 1) != nil) == notification.payload.has(.badge),
    "a badge has a place in the payload")
  check(notification.expiration(of: Timestamp(milliseconds: .min)) >= 0, "an expiration is a time")
}
