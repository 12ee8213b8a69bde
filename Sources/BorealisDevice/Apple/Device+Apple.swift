import BorealisBase
import Foundation

// Tokens as Apple's frameworks give them; the environment is that of the app's provisioning profile.
extension Device {
  /// Reports the token of the app from `didRegisterForRemoteNotificationsWithDeviceToken`.
  ///
  /// JPUSHService: `registerDeviceToken:`.
  public func setToken(_ token: Data) async throws(DeviceOperationError) {
    try await setToken(Array(token), environment: ProvisioningProfile.environment)
  }

  /// Reports the PushKit token of the app.
  ///
  /// JPUSHService: `registerVoipToken:`.
  public func setVoIPToken(_ token: Data) async throws(DeviceOperationError) {
    try await setVoIPToken(Array(token), environment: ProvisioningProfile.environment)
  }

  /// Reports the token of a Live Activity under a name chosen by the app; an empty one removes it.
  public func setLiveActivityToken(_ token: Data, of activity: String) async throws(DeviceOperationError) {
    try await setLiveActivityToken(Array(token), of: activity, environment: ProvisioningProfile.environment)
  }

  /// Reports the token that starts Live Activities whose attributes are of a type; an empty one removes
  /// it.
  public func setLiveActivityStartToken(
    _ token: Data, forAttributesType type: String
  ) async throws(DeviceOperationError) {
    try await setLiveActivityStartToken(
      Array(token), forAttributesType: type, environment: ProvisioningProfile.environment)
  }

  /// Reports the tokens of a Live Activity, `activity.pushTokenUpdates`, under a name chosen by the app,
  /// and removes the last one when the activity has ended. Returns then.
  ///
  /// JPUSHService: `registerLiveActivity:pushToken:completion:seq:`.
  public func reportTokens<Tokens: AsyncSequence>(
    _ tokens: sending Tokens, ofLiveActivity name: String
  ) async where Tokens.Element == Data {
    do {
      for try await token in tokens {
        // A token that cannot be reported now is reported with the next one, or at the next start.
        try? await setLiveActivityToken(token, of: name)
      }
    } catch {
      return
    }
    if !Task.isCancelled { try? await setLiveActivityToken(Data(), of: name) }
  }

  /// Reports the tokens that start Live Activities, `Activity<Attributes>.pushToStartTokenUpdates`, under
  /// the name of the type of their attributes. Returns when there will be no more.
  ///
  /// JPUSHService: `registerLiveActivity:pushToStartToken:completion:seq:`.
  public func reportStartTokens<Tokens: AsyncSequence>(
    _ tokens: sending Tokens, ofAttributesType type: String
  ) async where Tokens.Element == Data {
    do {
      for try await token in tokens { try? await setLiveActivityStartToken(token, forAttributesType: type) }
    } catch {
      return
    }
  }
}

extension Device {
  /// Handles the payload of a notification from APNs: `handleRemoteNotification` for `userInfo`. Nil for
  /// payloads of others.
  @discardableResult
  public func handleRemoteNotification(
    _ userInfo: [AnyHashable: Any], tapped: Bool = false
  ) -> RemoteNotification? {
    guard userInfo["_j_msgid"] != nil, JSONSerialization.isValidJSONObject(userInfo),
      let payload = try? JSONSerialization.data(withJSONObject: userInfo)
    else { return nil }
    return handleRemoteNotification(Array(payload), tapped: tapped)
  }
}
