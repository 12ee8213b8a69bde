import BorealisBase
import BorealisProtocol

/// A failed operation, with JPush's client result code (Docs/protocol.md section 5).
public struct DeviceOperationError: Error, Hashable, CustomStringConvertible {
  /// Why.
  public let code: ResultCode

  /// Wraps a code.
  public init(_ code: ResultCode) { self.code = code }

  /// The code for people.
  public var description: String { "result code \(code.rawValue)" }
}

// An operation waits for the login if there is no session, and is sent again if the connection ends before
// its result. It ends with 6002 after ten seconds without a result, with 6012 when the device is stopped.
extension Device {
  /// Sets the alias (at most 40 characters), replacing a previous one. At most ten devices may have the same.
  ///
  /// JPUSHService: `setAlias:completion:seq:`. GeTuiSdk: `bindAlias:andSequenceNum:`.
  public func setAlias(_ alias: String) async throws(DeviceOperationError) {
    _ = try await run(.setAlias(alias))
  }

  /// Releases the alias.
  ///
  /// JPUSHService: `deleteAlias:seq:`. GeTuiSdk: `unbindAlias:andSequenceNum:andIsSelf:` with `YES`.
  public func deleteAlias() async throws(DeviceOperationError) { _ = try await run(.deleteAlias) }

  /// The alias, nil if there is none.
  ///
  /// JPUSHService: `getAlias:seq:`.
  public func getAlias() async throws(DeviceOperationError) -> String? {
    guard case .alias(let alias) = try await run(.getAlias), !alias.isEmpty else { return nil }
    return alias
  }

  /// Replaces all tags. At most 1000, each of at most 32 characters, or 40 bytes of UTF-8.
  ///
  /// JPUSHService: `setTags:completion:seq:`. GeTuiSdk: `setTags:andSequenceNum:`.
  public func setTags(_ tags: [String]) async throws(DeviceOperationError) {
    _ = try await run(.setTags(tags))
  }

  /// Adds tags.
  ///
  /// JPUSHService: `addTags:completion:seq:`.
  public func addTags(_ tags: [String]) async throws(DeviceOperationError) {
    _ = try await run(.addTags(tags))
  }

  /// Removes tags; tags that the device does not have are ignored.
  ///
  /// JPUSHService: `deleteTags:completion:seq:`.
  public func deleteTags(_ tags: [String]) async throws(DeviceOperationError) {
    _ = try await run(.deleteTags(tags))
  }

  /// Removes all tags.
  ///
  /// JPUSHService: `cleanTags:seq:`.
  public func cleanTags() async throws(DeviceOperationError) { _ = try await run(.cleanTags) }

  /// All tags, in no particular order.
  ///
  /// JPUSHService: `getAllTags:seq:`. GeTuiSdk: `queryTag:`.
  public func getTags() async throws(DeviceOperationError) -> [String] {
    guard case .tags(let tags) = try await run(.getTags) else { return [] }
    return tags
  }

  /// Whether the device has a tag.
  ///
  /// JPUSHService: `validTag:completion:seq:`. JPush on Android: `checkTagBindState`.
  public func checkTag(_ tag: String) async throws(DeviceOperationError) -> Bool {
    try await run(.checkTag(tag)) == .hasTag(true)
  }

  /// Reports the badge number that the app's icon shows now, the base of the next push with a badge of `+1`.
  ///
  /// JPUSHService: `setBadge:`, with 0 `resetBadge`. GeTuiSdk: `setBadge:`, `resetBadge`.
  public func setBadge(_ badge: UInt32) async throws(DeviceOperationError) {
    _ = try await run(.setBadge(badge))
  }

  /// Reports the APNs token of the app (at most 100 bytes); empty removes it. Call at every start.
  ///
  /// JPUSHService: `registerDeviceToken:`. GeTuiSdk: `registerDeviceTokenData:`.
  public func setToken(
    _ token: [UInt8], environment: APNsEnvironment
  ) async throws(DeviceOperationError) {
    _ = try await run(.setToken(DeviceToken(environment, token)))
  }

  /// Reports the PushKit token of the app (at most 255 bytes); empty removes it. Call at every start. Ends
  /// with 6017 if the server is too old for it.
  ///
  /// JPUSHService: `registerVoipToken:`. GeTuiSdk: `registerVoipTokenCredentials:`.
  public func setVoIPToken(
    _ token: [UInt8], environment: APNsEnvironment
  ) async throws(DeviceOperationError) {
    _ = try await run(.setOtherToken(OtherToken(.voip, DeviceToken(environment, token))))
  }

  /// Reports the token of a Live Activity under a name chosen by the app (1 to 255 bytes). Pushes that update
  /// the activity are addressed to this name, which activities on many devices may share. Call whenever
  /// ActivityKit issues a token; empty removes it when the activity has ended. Ends with 6017 for a name of
  /// another length, or if the server is too old for it.
  ///
  /// JPUSHService: `registerLiveActivity:pushToken:completion:seq:`. GeTuiSdk:
  /// `registerLiveActivity:activityToken:sequenceNum:`.
  public func setLiveActivityToken(
    _ token: [UInt8], of activity: String, environment: APNsEnvironment
  ) async throws(DeviceOperationError) {
    try await setNamedToken(.liveActivity, activity, DeviceToken(environment, token))
  }

  /// Reports the push-to-start token of Live Activities with attributes of a type (its name has 1 to 255
  /// bytes); empty removes it. Call whenever ActivityKit issues a token. Errors as above.
  ///
  /// JPUSHService: `registerLiveActivity:pushToStartToken:completion:seq:`. GeTuiSdk:
  /// `registerPushToStartToken:activityAttributes:sequenceNum:`.
  public func setLiveActivityStartToken(
    _ token: [UInt8], forAttributesType type: String, environment: APNsEnvironment
  ) async throws(DeviceOperationError) {
    try await setNamedToken(.liveActivityStart, type, DeviceToken(environment, token))
  }

  /// Reports a token of a channel such as `fcm`, as `POST /v1/tokens` has it; empty removes it. `kind` is
  /// empty for the channel's ordinary kind, `name` for kinds of which a device has one, `service` for
  /// channels with one service. Call at every start. Ends with 6017 if the server has no such channel for the
  /// device's platform, if the token has another form, or if the server is too old for it.
  public func setToken(
    _ token: String, channel: String, kind: String = "", name: String = "", service: String = ""
  ) async throws(DeviceOperationError) {
    let told = ReportedToken(channel: channel, kind: kind, name: name, service: service, token: token)
    _ = try await run(.setChannelToken(told))
  }

  private func setNamedToken(
    _ kind: APNsTokenKind, _ name: String, _ token: DeviceToken
  ) async throws(DeviceOperationError) {
    guard let slot = APNsTokenSlot(kind, name: name) else { throw DeviceOperationError(.requestInvalid) }
    _ = try await run(.setOtherToken(OtherToken(slot, token)))
  }

  /// Reports whether the app is in the foreground.
  public func setAppState(_ state: AppState) async throws(DeviceOperationError) {
    _ = try await run(.appState(state))
  }

  /// Ends the session until `start`, after the operations before it; also without a server. The registration,
  /// its alias and its tags stay, and pushes are kept. JPush and GeTui have no counterpart: their apps
  /// release the alias when their user logs out.
  public func logout() async throws(DeviceOperationError) { _ = try await run(.logout) }

  private func run(_ operation: Operation) async throws(DeviceOperationError) -> ResultPayload {
    let result = await result(of: operation)
    guard result.code == .ok else { throw DeviceOperationError(result.code) }
    return result.value
  }
}
