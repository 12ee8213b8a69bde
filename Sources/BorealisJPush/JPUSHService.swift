#if canImport(UIKit)
  import BorealisBase
  import BorealisDevice
  import BorealisProtocol
  import Foundation
  import UIKit
  import UserNotifications

  /// The result of an operation on tags: JPush's code, 0 for success, the tags and the caller's number.
  public typealias JPUSHTagsOperationCompletion = (_ iResCode: Int, _ iTags: Set<AnyHashable>?, _ seq: Int) ->
    Void
  /// The same, and whether the device has the tag.
  public typealias JPUSHTagValidOperationCompletion = (
    _ iResCode: Int, _ iTags: Set<AnyHashable>?, _ seq: Int, _ isBind: Bool
  ) -> Void
  /// The result of an operation on the alias.
  public typealias JPUSHAliasOperationCompletion = (_ iResCode: Int, _ iAlias: String?, _ seq: Int) -> Void
  /// The result of a call about a Live Activity.
  public typealias JPUSHLiveActivityTokenCompletion = (
    _ iResCode: Int, _ iLiveActivityId: String?, _ pushToken: Data?, _ seq: Int
  ) -> Void

  /// The calls of JPush's library for iOS, carried out by Borealis. All on the main thread, on which
  /// callbacks come as well.
  @available(iOSApplicationExtension, unavailable)
  @MainActor
  public final class JPUSHService: NSObject {
    /// What all calls use; nil before `setup`.
    static var app: JPushApp?

    /// Sets the library up, and starts it unless consent was withheld. The server is in the app's
    /// Info.plist: `BorealisServer` the device port, `BorealisAPI` and `BorealisAppGroup` for an
    /// extension. The channel is reported as the fact `store_channel` if the server asks for that; each
    /// token has the environment of the app's profile.
    public static func setup(
      withOption launchingOption: [AnyHashable: Any]?, appKey: String, channel: String?,
      apsForProduction isProduction: Bool
    ) {
      guard app == nil else { return }
      func value(_ name: String) -> String? { Bundle.main.object(forInfoDictionaryKey: name) as? String }
      guard var configuration = BorealisConfiguration(server: value("BorealisServer") ?? "", appKey: appKey)
      else { return JPushApp.post(.jpfServiceError, ["error": "BorealisServer or the app key is not valid"]) }
      (configuration.api, configuration.appGroup) = (value("BorealisAPI"), value("BorealisAppGroup"))
      setup(configuration)
      if let channel { app?.borealis.device.setFacts([.storeChannel: channel]) }
    }

    /// The same; the identifier is not used.
    public static func setup(
      withOption launchingOption: [AnyHashable: Any]?, appKey: String, channel: String?,
      apsForProduction isProduction: Bool, advertisingIdentifier advertisingId: String?
    ) {
      setup(withOption: launchingOption, appKey: appKey, channel: channel, apsForProduction: isProduction)
    }

    /// Sets the library up with all that Borealis lets an app choose.
    public static func setup(_ configuration: BorealisConfiguration) {
      guard app == nil else { return }
      let new = JPushApp(configuration)
      app = new
      if JGInforCollectionAuth.isGiven { new.start() }
    }
  }

  // MARK: - Notifications and tokens
  @available(iOSApplicationExtension, unavailable)
  extension JPUSHService {
    /// Asks the user for permission. The delegate, which is not retained, decides how notifications are
    /// presented and learns of taps.
    public static func register(
      forRemoteNotificationConfig config: JPUSHRegisterEntity, delegate: (any JPUSHRegisterDelegate)?
    ) {
      app?.delegate = delegate
      let options = UNAuthorizationOptions(rawValue: UInt(bitPattern: config.types))
      let categories = config.categories as? Set<UNNotificationCategory> ?? []
      if !categories.isEmpty { UNUserNotificationCenter.current().setNotificationCategories(categories) }
      Task { _ = try? await UNUserNotificationCenter.current().requestAuthorization(options: options) }
    }

    /// Reports the token of the app.
    public static func registerDeviceToken(_ deviceToken: Data) { app?.borealis.didRegister(deviceToken) }

    /// Reports the PushKit token of the app.
    public static func registerVoipToken(_ voipToken: Data) {
      guard let device = app?.borealis.device else { return }
      Task { try? await device.setVoIPToken(voipToken) }
    }

    /// Records the payload of a notification that arrived.
    public static func handleRemoteNotification(_ remoteInfo: [AnyHashable: Any]) {
      app?.borealis.device.handleRemoteNotification(remoteInfo)
    }

    /// Records the payload of a VoIP push.
    public static func handleVoipNotification(_ remoteInfo: [AnyHashable: Any]) {
      handleRemoteNotification(remoteInfo)
    }

    /// Reports the token of a Live Activity under the app's name of it; nil when it has ended.
    public static func registerLiveActivity(
      _ liveActivityId: String, pushToken: Data?, completion: JPUSHLiveActivityTokenCompletion?, seq: Int
    ) {
      reportToken(of: liveActivityId, pushToken, completion, seq, .liveActivity)
    }

    /// Reports the token that starts Live Activities whose attributes are of a type.
    public static func registerLiveActivity(
      _ activityAttributes: String, pushToStartToken: Data?, completion: JPUSHLiveActivityTokenCompletion?,
      seq: Int
    ) {
      reportToken(of: activityAttributes, pushToStartToken, completion, seq, .liveActivityStart)
    }

    private static func reportToken(
      of name: String, _ token: Data?, _ completion: JPUSHLiveActivityTokenCompletion?, _ seq: Int,
      _ kind: APNsTokenKind
    ) {
      run { device in
        if kind == .liveActivity {
          try await device.setLiveActivityToken(token ?? Data(), of: name)
        } else {
          try await device.setLiveActivityStartToken(token ?? Data(), forAttributesType: name)
        }
      } done: { code, _ in
        completion?(code, name, token, seq)
      }
    }
  }

  // MARK: - Alias and tags
  @available(iOSApplicationExtension, unavailable)
  extension JPUSHService {
    /// Sets the alias.
    public static func setAlias(_ alias: String, completion: JPUSHAliasOperationCompletion?, seq: Int) {
      run {
        try await $0.setAlias(alias)
      } done: { code, _ in
        completion?(code, alias, seq)
      }
    }

    /// Releases the alias.
    public static func deleteAlias(_ completion: JPUSHAliasOperationCompletion?, seq: Int) {
      run {
        try await $0.deleteAlias()
      } done: { code, _ in
        completion?(code, nil, seq)
      }
    }

    /// Asks for the alias.
    public static func getAlias(_ completion: JPUSHAliasOperationCompletion?, seq: Int) {
      run {
        try await $0.getAlias()
      } done: { code, alias in
        completion?(code, alias ?? nil, seq)
      }
    }

    /// Replaces all tags.
    public static func setTags(_ tags: Set<String>, completion: JPUSHTagsOperationCompletion?, seq: Int) {
      run {
        try await $0.setTags(tags.sorted())
      } done: { code, _ in
        completion?(code, tags, seq)
      }
    }

    /// Adds tags.
    public static func addTags(_ tags: Set<String>, completion: JPUSHTagsOperationCompletion?, seq: Int) {
      run {
        try await $0.addTags(tags.sorted())
      } done: { code, _ in
        completion?(code, tags, seq)
      }
    }

    /// Removes tags.
    public static func deleteTags(_ tags: Set<String>, completion: JPUSHTagsOperationCompletion?, seq: Int) {
      run {
        try await $0.deleteTags(tags.sorted())
      } done: { code, _ in
        completion?(code, tags, seq)
      }
    }

    /// Removes all tags.
    public static func cleanTags(_ completion: JPUSHTagsOperationCompletion?, seq: Int) {
      run {
        try await $0.cleanTags()
      } done: { code, _ in
        completion?(code, nil, seq)
      }
    }

    /// Asks for all tags.
    public static func getAllTags(_ completion: JPUSHTagsOperationCompletion?, seq: Int) {
      run {
        try await $0.getTags()
      } done: { code, tags in
        completion?(code, tags.map { Set($0) }, seq)
      }
    }

    /// Asks whether the device has a tag.
    public static func validTag(_ tag: String, completion: JPUSHTagValidOperationCompletion?, seq: Int) {
      run {
        try await $0.checkTag(tag)
      } done: { code, has in
        completion?(code, [tag], seq, has ?? false)
      }
    }

    /// The tags of a set that are not too long, 1000 at most. The server judges the rest.
    public static func filterValidTags(_ tags: Set<String>) -> Set<String> {
      let valid = tags.filter { !$0.isEmpty && ($0.count <= 32 || $0.utf8.count <= 40) }
      return Set(valid.sorted().prefix(1000))
    }

    /// Runs an operation and passes JPush's code on.
    private static func run<Value: Sendable>(
      _ operation: @escaping @Sendable (Device) async throws -> Value,
      done: @escaping @MainActor (Int, Value?) -> Void
    ) {
      guard let device = app?.borealis.device else { return done(Int(ResultCode.stopped.rawValue), nil) }
      Task {
        do {
          done(0, try await operation(device))
        } catch {
          done(Int(((error as? DeviceOperationError)?.code ?? .stopped).rawValue), nil)
        }
      }
    }
  }

  // MARK: - The rest
  @available(iOSApplicationExtension, unavailable)
  extension JPUSHService {
    /// The registration ID; empty before the first registration.
    public static func registrationID() -> String { app?.borealis.device.registrationID?.text ?? "" }

    /// Passes the registration ID on when there is one: code 0, or 1011 without consent.
    public static func registrationIDCompletionHandler(
      _ completionHandler: @escaping (_ resCode: Int32, _ registrationID: String?) -> Void
    ) {
      guard let app else { return completionHandler(Int32(ResultCode.notRegistered.rawValue), nil) }
      app.whenRegistered(completionHandler)
    }

    /// Tells the server the number that the app's icon shows, which the app sets itself; false if it is
    /// not a possible one.
    @discardableResult
    public static func setBadge(_ value: Int) -> Bool {
      guard (0...99_999).contains(value), let app else { return false }
      app.borealis.device.submit(.setBadge(UInt32(value)))
      return true
    }

    /// Tells the server that the app's icon shows no number.
    public static func resetBadge() { setBadge(0) }

    /// Connects again after `stopPush`. Not one of JPush's calls on iOS; it has the name of that on
    /// Android.
    public static func resumePush() { app?.start() }

    /// Disconnects. APNs still brings notifications.
    public static func stopPush() { app?.borealis.stop() }

    /// Does nothing: the library logs nothing.
    public static func setDebugMode() {}

    /// Does nothing: the library logs nothing.
    public static func setLogOFF() {}
  }
#endif
