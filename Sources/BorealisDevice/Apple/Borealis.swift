#if canImport(UIKit)
  import BorealisBase
  import BorealisProtocol
  import Foundation
  import UIKit
  import UserNotifications

  /// Pushes in an app for iOS: connects the device library with the life of the app, its notifications and
  /// its extension.
  ///
  /// Make one when the app launches, in `didFinishLaunchingWithOptions` at the latest, so that no tap is
  /// lost; it does nothing until `start`.
  @available(iOSApplicationExtension, unavailable)
  @MainActor
  public final class Borealis: NSObject {
    /// The connection, for all else: aliases, tags, tokens.
    public let device: Device
    /// How notifications are presented while the app is in the foreground.
    public var presentation: UNNotificationPresentationOptions = [.banner, .list, .sound, .badge]

    private let configuration: BorealisConfiguration
    private weak var listener: (any BorealisListener)?
    private let statePath: String
    private let folder: SharedFolder?
    private var reading: Task<Void, Never>?
    private var observers: [any NSObjectProtocol] = []
    private var isStarted = false
    /// The last token, which each start reports.
    private var token: Data?
    /// The facts that the server asks for in this session.
    private var wantedFacts: DeviceFactSet = []

    /// Keeps what it is given, and receives the taps on notifications from now on. The listener is not
    /// retained.
    public init(_ configuration: BorealisConfiguration, listener: any BorealisListener) {
      self.configuration = configuration
      self.listener = listener
      statePath = configuration.statePath ?? Self.usualPath(configuration.appKey)
      folder = configuration.appGroup.flatMap { SharedFolder(group: $0) }
      let version = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
      device = Device(
        DeviceConfiguration(
          server: configuration.server, security: configuration.security, statePath: statePath,
          profile: DeviceProfile(
            appKey: configuration.appKey, platform: .ios, appVersion: version ?? "",
            clientName: "borealis-ios/1", formerRegistrationID: configuration.formerRegistrationID,
            keyKind: configuration.keyKind)))
      super.init()
      UNUserNotificationCenter.current().delegate = self
    }

    /// Connects, once the user has agreed: with `consent` false nothing happens. Call it at each launch
    /// with what the user has said, and when the user has agreed.
    public func start(consent: Bool = true) throws(DeviceSetUpError) {
      guard consent, !isStarted else { return }
      try prepareFolder()
      try device.start()
      isStarted = true
      if let folder { device.recordNotes(of: folder) }
      readEvents()
      watchLife()
      reportState(UIApplication.shared.applicationState == .background ? .background : .foreground)
      UIApplication.shared.registerForRemoteNotifications()
      if let token { report(token) }
    }

    /// Disconnects until the next `start`. The server keeps pushes meanwhile, and APNs still brings
    /// notifications.
    public func stop() {
      guard isStarted else { return }
      isStarted = false
      for observer in observers { NotificationCenter.default.removeObserver(observer) }
      observers = []
      device.stop()
    }

    /// Asks the user whether notifications may be shown. Ask when the user knows what for.
    public func requestPermission(
      _ options: UNAuthorizationOptions = [.alert, .badge, .sound]
    ) async throws -> Bool {
      defer { reportFacts() }
      return try await UNUserNotificationCenter.current().requestAuthorization(options: options)
    }

    /// Call it in `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)`.
    public func didRegister(_ token: Data) {
      self.token = token
      if isStarted { report(token) }
    }

    /// Shows a number on the app's icon, and tells the server, which adds to it.
    public func setBadge(_ number: Int) {
      if #available(iOS 16, *) {
        UNUserNotificationCenter.current().setBadgeCount(number)
      } else {
        UIApplication.shared.applicationIconBadgeNumber = number
      }
      device.submit(.setBadge(UInt32(clamping: number)))
    }

    /// Shows the notification of a push that came over the connection, and reports it as shown if the system
    /// takes it. False if there is nothing to show: the push has no notification, or the user had it through
    /// APNs.
    @discardableResult
    public func show(_ push: DevicePush) -> Bool {
      guard !push.notificationWasShown, let notification = push.json?["notification"] else { return false }
      let content = UNMutableNotificationContent()
      NotificationText(notification).apply(to: content)
      content.userInfo[Self.own] = "\(push.messageID.rawValue)"
      let id = push.messageID
      let request = UNNotificationRequest(identifier: "\(id.rawValue)", content: content, trigger: nil)
      // The system takes none while the user allows no notifications.
      UNUserNotificationCenter.current().add(request) { @Sendable [device] error in
        if error == nil { device.reportShown(id) }
      }
      return true
    }

    /// The member of `userInfo` that a notification of `show` has, with the push's ID.
    private static let own = "_borealis_shown"
  }

  // MARK: - The life of the app
  @available(iOSApplicationExtension, unavailable)
  extension Borealis {
    private static func usualPath(_ appKey: AppKey) -> String {
      let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
      let folder = folders.first ?? FileManager.default.temporaryDirectory
      return folder.appendingPathComponent("Borealis/\(appKey.text).state").path
    }

    /// Backups leave the folder out: two phones must not have one registration.
    private func prepareFolder() throws(DeviceSetUpError) {
      let folder = URL(fileURLWithPath: statePath).deletingLastPathComponent()
      do {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      } catch {
        throw .state(path: statePath, reason: error.localizedDescription)
      }
      guard configuration.statePath == nil else { return }
      let resource = NSURL(fileURLWithPath: folder.path, isDirectory: true)
      try? resource.setResourceValue(true, forKey: .isExcludedFromBackupKey)
    }

    private func watchLife() {
      observers = [
        observe(UIApplication.didEnterBackgroundNotification) { $0.didEnterBackground() },
        observe(UIApplication.willEnterForegroundNotification) { $0.willEnterForeground() },
      ]
    }

    private func observe(
      _ name: Notification.Name, _ body: @escaping @MainActor @Sendable (Borealis) -> Void
    ) -> any NSObjectProtocol {
      NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { [weak self] _ in
        Task { @MainActor in if let self { body(self) } }
      }
    }

    /// Asks the system for the time to tell the server, which from then on uses APNs.
    private func didEnterBackground() {
      share()
      let application = UIApplication.shared
      var task = UIBackgroundTaskIdentifier.invalid
      let end: @MainActor @Sendable () -> Void = {
        if task != .invalid { application.endBackgroundTask(task) }
        task = .invalid
      }
      task = application.beginBackgroundTask(withName: "Borealis", expirationHandler: end)
      Task {
        try? await device.setAppState(.background)
        end()
      }
    }

    private func willEnterForeground() {
      if let folder { device.recordNotes(of: folder) }
      reportState(.foreground)
      reportFacts()
      // After a suspension the system may have closed the connection.
      device.networkChanged()
    }

    private func reportState(_ state: AppState) { device.submit(.appState(state)) }

    private func report(_ token: Data) { Task { try? await device.setToken(token) } }

    /// Reads what the server asks for and what may have changed; the library sends what has.
    private func reportFacts() {
      guard isStarted, !wantedFacts.isEmpty else { return }
      Task { device.setFacts(await PhoneFacts.read(wantedFacts)) }
    }

    private func share() {
      guard let folder, let api = configuration.api else { return }
      device.share(in: folder, api: api)
    }
  }

  // MARK: - Events
  @available(iOSApplicationExtension, unavailable)
  extension Borealis {
    /// Reads until the object is gone.
    private func readEvents() {
      guard reading == nil else { return }
      reading = Task { [weak self, events = device.events] in
        for await event in events {
          guard let self else { return }
          handle(event)
        }
      }
    }

    private func handle(_ event: DeviceEvent) {
      switch event {
      case .registered(let id):
        share()
        listener?.didRegister(id)
      case .loggedIn(let pending):
        share()
        listener?.didConnect(pending: pending)
      case .disconnected(let reason, let retryIn):
        wantedFacts = []
        listener?.didDisconnect(reason, retryIn: retryIn)
      case .factsWanted(let facts):
        wantedFacts = facts
        reportFacts()
      case .push(let push):
        // Without a listener it is kept for the next start.
        if listener?.didReceive(push) == true { device.handled(push.messageID) }
      case .recalled(let id):
        let center = UNUserNotificationCenter.current()
        center.removeDeliveredNotifications(withIdentifiers: ["\(id.rawValue)"])
        center.removePendingNotificationRequests(withIdentifiers: ["\(id.rawValue)"])
        listener?.didRecall(id)
      case .leftToChannel, .unreadable, .keyMissing, .operationResult: break
      }
    }
  }

  // MARK: - Notifications
  @available(iOSApplicationExtension, unavailable)
  extension Borealis: UNUserNotificationCenterDelegate {
    /// How a notification is presented while the app is in the foreground: nothing for one that the user
    /// has had, nil for one that is not of this server. For apps with a delegate of their own.
    public func presentation(for notification: UNNotification) -> UNNotificationPresentationOptions? {
      let userInfo = notification.request.content.userInfo
      if userInfo[Self.own] != nil { return presentation }
      return device.handleRemoteNotification(userInfo).map { $0.shouldPresent ? presentation : [] }
    }

    /// Reports a tap and passes it to the listener; false for a notification that is not of this server.
    /// For apps with a delegate of their own.
    @discardableResult
    public func handle(_ response: UNNotificationResponse) -> Bool {
      guard response.actionIdentifier != UNNotificationDismissActionIdentifier else { return false }
      var userInfo = response.notification.request.content.userInfo
      let id: MessageID
      if let own = (userInfo[Self.own] as? String).flatMap({ MessageID(decimal: $0.utf8) }) {
        device.reportTapped(own)
        id = own
      } else if let notification = device.handleRemoteNotification(userInfo, tapped: true) {
        id = notification.messageID
      } else {
        return false
      }
      for name in ["aps", "_j_msgid", "encrypted", Self.own] { userInfo[name] = nil }
      let action = response.actionIdentifier
      listener?.didOpen(
        OpenedNotification(
          messageID: id, userInfo: userInfo,
          action: action == UNNotificationDefaultActionIdentifier ? nil : action))
      return true
    }

    /// Called by the system.
    public nonisolated func userNotificationCenter(
      _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
      withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
      nonisolated(unsafe) let (notification, done) = (notification, completionHandler)
      Task { @MainActor in done(presentation(for: notification) ?? presentation) }
    }

    /// Called by the system.
    public nonisolated func userNotificationCenter(
      _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
      withCompletionHandler completionHandler: @escaping () -> Void
    ) {
      nonisolated(unsafe) let (response, done) = (response, completionHandler)
      Task { @MainActor in
        handle(response)
        done()
      }
    }
  }
#endif
