import BorealisBase
import Core
import Model

extension Vendor where Credential == VendorFields {
  /// Some services take lists of tokens with commas between them: a token with one would be several, and
  /// nobody's own.
  package func check(_ token: [UInt8]) -> Result<[UInt8], ReportedTokenFault> {
    token.contains(UInt8(ascii: ","))
      ? .failure(ReportedTokenFault("token must be what the maker's library gave, without a comma"))
      : .success(token)
  }
  /// Opens what was sealed.
  package func credential(_ secret: [UInt8]) -> VendorFields? { VendorFields(secret) }
}

extension Vendor {
  /// Whether the direct connection brings what the service refuses of a push. A vendor's platforms have the
  /// same rules.
  func fallsBack(_ push: StoredPush) -> Bool {
    Platform.allCases.first { info.platforms.contains($0) }.map {
      Routing.fallsBackToOwn(
        push.content.strategy(of: info.id, else: push.strategy), on: $0, push.content.parts(for: $0))
    } ?? false
  }
}
