#if canImport(UIKit)
  import BorealisBase
  import BorealisDevice
  import BorealisProtocol
  import Foundation
  import UserNotifications

  /// What is behind the calls: passes events on as calls of Getui's delegate.
  @available(iOSApplicationExtension, unavailable)
  @MainActor
  final class GeTuiApp: NSObject {
    private(set) lazy var borealis = Borealis(configuration, listener: self)
    private(set) weak var delegate: (any GeTuiSdkDelegate)?
    private(set) var status = SdkStatus.stoped

    private let configuration: BorealisConfiguration
    /// The CID that the delegate knows since the last start.
    private var announced: RegistrationID?

    init(_ configuration: BorealisConfiguration) {
      self.configuration = configuration
      super.init()
      _ = borealis
      UNUserNotificationCenter.current().delegate = self
    }

    func start(_ delegate: (any GeTuiSdkDelegate)?) {
      self.delegate = delegate
      guard status == .stoped else { return }
      announced = nil
      do throws(DeviceSetUpError) {
        try borealis.start()
        become(.starting)
      } catch {
        delegate?.geTuiSdkDidOccurError(GeTuiSdk.error(0, error.description))
      }
    }

    func stop() {
      borealis.stop()
      become(.stoped)
    }

    private func become(_ new: SdkStatus) {
      guard new != status else { return }
      status = new
      delegate?.geTuiSDkDidNotifySdkState(new)
    }

    private func announce(_ id: RegistrationID?) {
      guard let id, id != announced else { return }
      announced = id
      delegate?.geTuiSdkDidRegisterClient(id.text)
    }
  }

  @available(iOSApplicationExtension, unavailable)
  extension GeTuiApp: BorealisListener {
    func didRegister(_ registrationID: RegistrationID) { announce(registrationID) }

    func didConnect(pending: UInt32) {
      guard status != .stoped else { return }
      become(.started)
      announce(borealis.device.registrationID)
    }

    func didDisconnect(_ reason: DisconnectReason, retryIn: UInt64?) {
      guard status != .stoped else { return }
      if case .refused(let code, let message) = reason {
        delegate?.geTuiSdkDidOccurError(GeTuiSdk.error(Int(code.rawValue), message))
      }
      become(.offline)
    }

    /// Shows the notification, and passes the transmission on. Devices do not know the IDs of tasks.
    func didReceive(_ push: DevicePush) -> Bool {
      // Whoever has had the notification is not to be told again.
      let isOffline = push.isOffline || push.notificationWasShown
      borealis.show(push)
      guard let message = push.json?["message"] else { return true }
      let id = push.messageID.text
      delegate?.geTuiSdkDidReceiveSlience(
        ["payload": message["msg_content"]?.string ?? ""], fromGetui: true, offLine: isOffline,
        appId: configuration.appKey.text, taskId: id, msgId: id, fetchCompletionHandler: nil)
      return true
    }
  }

  @available(iOSApplicationExtension, unavailable)
  extension GeTuiApp: UNUserNotificationCenterDelegate {
    nonisolated func userNotificationCenter(
      _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
      withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
      nonisolated(unsafe) let (notification, done) = (notification, completionHandler)
      Task { @MainActor in
        // Of one that the user has had, the app does not learn again.
        if let presentation = borealis.presentation(for: notification), presentation.isEmpty {
          return done([])
        }
        guard let delegate else { return done(borealis.presentation) }
        delegate.geTuiSdkNotificationCenter(
          .current(), willPresent: notification, completionHandler: done)
      }
    }

    nonisolated func userNotificationCenter(
      _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
      withCompletionHandler completionHandler: @escaping () -> Void
    ) {
      nonisolated(unsafe) let (response, done) = (response, completionHandler)
      Task { @MainActor in
        borealis.handle(response)
        delegate?.geTuiSdkDidReceiveNotification(
          response.notification.request.content.userInfo, notificationCenter: .current(), response: response,
          fetchCompletionHandler: nil)
        done()
      }
    }
  }
#endif
