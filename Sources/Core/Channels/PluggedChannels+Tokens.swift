import BorealisBase
import Model

/// Why a token that a device told is none.
package struct ReportedTokenFault: Error, Sendable {
  /// One line without a full stop, for developers.
  package let message: String

  /// Wraps a line.
  package init(_ message: String) { self.message = message }
}

extension PluggedChannels {
  /// Checks what a device on a platform says of a token by what the channel that it names says of its tokens.
  package func token(_ told: ReportedToken, of platform: Platform) -> Result<PushToken, ReportedTokenFault> {
    let infos = infos.filter { !$0.tokens.isEmpty }
    guard let info = infos.first(where: { $0.name == told.channel }) else {
      return .failure(
        ReportedTokenFault("channel must be one of \(infos.map(\.name).joined(separator: ", "))"))
    }
    guard info.platforms.contains(platform) else {
      return .failure(ReportedTokenFault("\(info.name) does not reach devices on \(platform.name)"))
    }
    // The first kind is the ordinary one.
    guard let kind = info.tokens.first(where: { told.kind.isEmpty || $0.name == told.kind }) else {
      let names = info.tokens.map(\.name).joined(separator: ", ")
      return .failure(ReportedTokenFault("kind must be one of \(names) for \(info.name)"))
    }
    guard kind.allows(name: told.name) else {
      return .failure(
        ReportedTokenFault(
          kind.isNamed
            ? "\(kind.name) needs a name of 1 to \(TokenSlot.maximumName) bytes" : "\(kind.name) has no name")
      )
    }
    guard let service = info.service(named: told.service.isEmpty ? nil : told.service) else {
      let names = info.services.map(\.name).joined(separator: ", ")
      return .failure(
        ReportedTokenFault(
          names.isEmpty ? "\(info.name) has no services" : "service must be one of \(names) for \(info.name)")
      )
    }
    guard let bytes = kind.bytes(told.token) else {
      return .failure(
        ReportedTokenFault("token must be at most \(kind.maximumBytes) bytes as \(kind.form.english)"))
    }
    let slot = TokenSlot(info.id, kind: kind.number, name: told.name)
    guard !bytes.isEmpty, let channel = serviceChannel(info.id) else {
      return .success(PushToken(slot, service, bytes))
    }
    return channel.check(bytes, in: slot).map { PushToken(slot, service, $0) }
  }
}
