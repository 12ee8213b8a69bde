#if canImport(UIKit)
  import BorealisBase
  import BorealisDevice
  import BorealisProtocol
  import Foundation
  import UIKit
  import UserNotifications

  /// The calls of Getui's library for iOS, carried out by Borealis. All on the main thread, on which the
  /// delegate is called as well.
  @available(iOSApplicationExtension, unavailable)
  @MainActor
  public final class GeTuiSdk: NSObject {
    /// What all calls use; nil before `start`.
    static var app: GeTuiApp?
    private static var appGroup: String?

    /// Connects, and stays connected. Call it at each launch, once the user has agreed. The app ID is the
    /// key of the app at Borealis; Getui's key and secret have no effect. The server is in the app's
    /// Info.plist: `BorealisServer` the device port, `BorealisAPI` for an extension. The delegate is not
    /// retained.
    public static func start(
      withAppId appid: String, appKey: String, appSecret: String, delegate: (any GeTuiSdkDelegate)?,
      launchingOptions: [AnyHashable: Any]? = nil
    ) {
      if let app { return app.start(delegate) }
      func value(_ name: String) -> String? { Bundle.main.object(forInfoDictionaryKey: name) as? String }
      guard var configuration = BorealisConfiguration(server: value("BorealisServer") ?? "", appKey: appid)
      else {
        delegate?.geTuiSdkDidOccurError(error(0, "BorealisServer or the app ID is not valid"))
        return
      }
      (configuration.api, configuration.appGroup) = (value("BorealisAPI"), value("BorealisAppGroup"))
      start(configuration, delegate: delegate)
    }

    /// Connects with all that Borealis lets an app choose. Not of Getui.
    public static func start(_ configuration: BorealisConfiguration, delegate: (any GeTuiSdkDelegate)?) {
      var configuration = configuration
      configuration.appGroup = appGroup ?? configuration.appGroup
      let new = app ?? GeTuiApp(configuration)
      app = new
      new.start(delegate)
    }

    /// Names the App Group that the app shares with its extension. Call it before `start`.
    public static func setApplicationGroupIdentifier(_ identifier: String) { appGroup = identifier }

    /// Disconnects until the next `start`. APNs still brings notifications.
    public static func destroy() { app?.stop() }

    /// The number of this library, not of Getui's.
    public static func version() -> String { "borealis-1" }

    /// The device's CID; empty before the first registration.
    public static func clientId() -> String { app?.borealis.device.registrationID?.text ?? "" }

    /// What the library is doing.
    public static func status() -> SdkStatus { app?.status ?? .stoped }

    /// Turns pushes over the connection off, or on again, until the next `start`. APNs still brings
    /// notifications.
    public static func setPushModeForOff(_ isValue: Bool) {
      guard let app else { return }
      if isValue { app.stop() } else { app.start(app.delegate) }
      app.delegate?.geTuiSdkDidSetPushMode(isValue, error: nil)
    }

    /// Does nothing: in the background, APNs brings notifications.
    public static func runBackgroundEnable(_ isEnable: Bool) {}

    /// Does nothing.
    public static func setChannelId(_ aChannelId: String) {}

    /// An error with one of Getui's codes, or one of the server's.
    static func error(_ code: Int, _ text: String = "") -> any Error {
      let userInfo = text.isEmpty ? nil : [NSLocalizedDescriptionKey: text]
      return NSError(domain: "GeTuiSdk", code: code, userInfo: userInfo)
    }

    /// Runs an operation and passes its result on.
    private static func run<Value: Sendable>(
      _ operation: @escaping @Sendable (Device) async throws -> Value,
      done: @escaping @MainActor (Value?, ResultCode) -> Void
    ) {
      guard let device = app?.borealis.device else { return done(nil, .stopped) }
      Task {
        do {
          done(try await operation(device), .ok)
        } catch {
          done(nil, (error as? DeviceOperationError)?.code ?? .stopped)
        }
      }
    }
  }

  // MARK: - Alias and tags
  @available(iOSApplicationExtension, unavailable)
  extension GeTuiSdk {
    /// Binds the alias, replacing the device's previous one.
    public static func bindAlias(_ alias: String, andSequenceNum sn: String) {
      run {
        try await $0.setAlias(alias)
      } done: { _, code in
        ended(kGtResponseBindType, sn, aliasCode(code))
      }
    }

    /// Releases the device's alias. With `isSelf` false it fails: a device cannot release the alias of
    /// others.
    public static func unbindAlias(_ alias: String, andSequenceNum sn: String, andIsSelf isSelf: Bool) {
      guard isSelf else { return ended(kGtResponseUnBindType, sn, 30002) }
      run {
        // Another alias that the device has meanwhile stays.
        if try await $0.getAlias() == alias { try await $0.deleteAlias() }
      } done: { _, code in
        ended(kGtResponseUnBindType, sn, aliasCode(code))
      }
    }

    private static func ended(_ action: String, _ sn: String, _ code: Int) {
      app?.delegate?.geTuiSdkDidAliasAction(
        action, result: code == 0, sequenceNum: sn, error: code == 0 ? nil : error(code))
    }

    private static func aliasCode(_ code: ResultCode) -> Int {
      switch code {
      case .ok: 0
      case .tooFrequent: 30001
      case .stopped: 30005
      case .timeout: 30006
      case .nothingSet, .aliasIllegal, .aliasTooLong, .aliasFull: 30007
      default: 30004
      }
    }

    /// Replaces all tags; false if they are not texts.
    @discardableResult
    public static func setTags(_ tags: [Any]) -> Bool { setTags(tags, andSequenceNum: "") }

    /// Replaces all tags; false if they are not texts.
    @discardableResult
    public static func setTags(_ tags: [Any], andSequenceNum sn: String) -> Bool {
      let names = tags.compactMap { $0 as? String }
      guard names.count == tags.count, !names.isEmpty else { return false }
      run {
        try await $0.setTags(Set(names).sorted())
      } done: { _, code in
        let code = tagCode(code)
        app?.delegate?.geTuiSdkDidSetTagsAction(sn, result: code == 0, error: code == 0 ? nil : error(code))
      }
      return true
    }

    /// Asks for all tags.
    @discardableResult
    public static func queryTag(_ sn: String) -> Bool {
      run {
        try await $0.getTags()
      } done: { tags, code in
        let code = tagCode(code)
        app?.delegate?.getuiSdkDidQueryTag(
          tags ?? [], sequenceNum: sn, error: code == 0 ? nil : error(code))
      }
      return app != nil
    }

    private static func tagCode(_ code: ResultCode) -> Int {
      switch code {
      case .ok: 0
      case .tooManyTags, .tagsTooLong: 20001
      case .tooFrequent: 20002
      case .stopped: 20004
      case .timeout: 20008
      case .blacklisted: 20009
      case .deviceTagsFull, .appTagsFull, .newTagsUsedUp: 20010
      case .nothingSet, .tagIllegal, .tagTooLong: 20011
      default: 20005
      }
    }
  }

  // MARK: - Notifications and tokens
  @available(iOSApplicationExtension, unavailable)
  extension GeTuiSdk {
    /// Asks the user for permission.
    public static func registerRemoteNotification(_ types: UNAuthorizationOptions) {
      Task {
        do {
          let granted = try await UNUserNotificationCenter.current().requestAuthorization(options: types)
          app?.delegate?.getuiSdkGrantAuthorization(granted, error: nil)
        } catch {
          app?.delegate?.getuiSdkGrantAuthorization(false, error: error)
        }
      }
    }

    /// Reports the token of the app, in hexadecimal digits; false for other text.
    @discardableResult
    public static func registerDeviceToken(_ deviceToken: String) -> Bool {
      bytes(deviceToken).map { registerDeviceTokenData($0) } ?? false
    }

    /// Reports the token of the app.
    @discardableResult
    public static func registerDeviceTokenData(_ deviceToken: Data) -> Bool {
      guard let app, !deviceToken.isEmpty else { return false }
      app.borealis.didRegister(deviceToken)
      return true
    }

    /// Reports the PushKit token of the app, in hexadecimal digits; false for other text.
    @discardableResult
    public static func registerVoipToken(_ voipToken: String) -> Bool {
      bytes(voipToken).map { registerVoipTokenCredentials($0) } ?? false
    }

    /// Reports the PushKit token of the app.
    @discardableResult
    public static func registerVoipTokenCredentials(_ voipToken: Data) -> Bool {
      guard let device = app?.borealis.device, !voipToken.isEmpty else { return false }
      Task { try? await device.setVoIPToken(voipToken) }
      return true
    }

    /// Reports the token of a Live Activity under the app's name of it, in hexadecimal digits; an empty one
    /// when it has ended. False for other text.
    @discardableResult
    public static func registerLiveActivity(
      _ liveActivityId: String, activityToken token: String, sequenceNum sn: String
    ) -> Bool {
      guard app != nil, let token = bytes(token) else { return false }
      run {
        try await $0.setLiveActivityToken(token, of: liveActivityId)
      } done: { _, code in
        app?.delegate?.geTuiSdkDidRegisterLiveActivity(sn, result: code == .ok, error: failure(code))
      }
      return true
    }

    /// Reports the token that starts Live Activities whose attributes are of a type, in hexadecimal digits;
    /// false for other text.
    @discardableResult
    public static func registerLiveActivity(
      _ activityAttributes: String, pushToStartToken: String, sequenceNum sn: String
    ) -> Bool {
      guard app != nil, let token = bytes(pushToStartToken) else { return false }
      run {
        try await $0.setLiveActivityStartToken(token, forAttributesType: activityAttributes)
      } done: { _, code in
        app?.delegate?.geTuiSdkDidRegisterPush(toStartToken: sn, result: code == .ok, error: failure(code))
      }
      return true
    }

    private static func failure(_ code: ResultCode) -> (any Error)? {
      code == .ok ? nil : error(Int(code.rawValue))
    }

    private static func bytes(_ digits: String) -> Data? { Hex.decode(digits.lowercased()).map { Data($0) } }

    /// Records the payload of a notification that arrived.
    public static func handleRemoteNotification(_ userInfo: [AnyHashable: Any]) {
      app?.borealis.device.handleRemoteNotification(userInfo)
    }

    /// Records the payload of a VoIP push.
    public static func handleVoipNotification(_ payload: [AnyHashable: Any]) {
      handleRemoteNotification(payload)
    }

    /// Reports that the app has shown a push itself, 60001, or that the user has tapped it, 60002; false for
    /// numbers of your own, which the server does not count.
    @discardableResult
    public static func sendFeedbackMessage(
      _ actionId: Int, andTaskId taskId: String, andMsgId msgId: String
    ) -> Bool {
      guard let device = app?.borealis.device, let id = MessageID(decimal: msgId.utf8) else { return false }
      switch actionId {
      case 60001: device.reportShown(id)
      case 60002: device.reportTapped(id)
      default: return false
      }
      return true
    }

    /// Tells the server the number that the app's icon shows, which the app sets itself.
    public static func setBadge(_ badge: UInt) {
      app?.borealis.device.submit(.setBadge(UInt32(clamping: badge)))
    }

    /// Tells the server that the app's icon shows no number.
    public static func resetBadge() { setBadge(0) }

    /// Removes the app's notifications and the number on its icon.
    public static func clearAllNotificationForNotificationBar() {
      UNUserNotificationCenter.current().removeAllDeliveredNotifications()
      app?.borealis.setBadge(0)
    }
  }
#endif
