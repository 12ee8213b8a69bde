#if canImport(UIKit)
  import BorealisBase
  import BorealisDevice
  import BorealisProtocol
  import Foundation
  import UserNotifications

  /// What is behind the calls: passes events on as JPush's notifications and delegate calls.
  @available(iOSApplicationExtension, unavailable)
  @MainActor
  final class JPushApp: NSObject {
    private(set) lazy var borealis = Borealis(configuration, listener: self)
    weak var delegate: (any JPUSHRegisterDelegate)?

    private let configuration: BorealisConfiguration
    private var waiting: [(Int32, String?) -> Void] = []

    init(_ configuration: BorealisConfiguration) {
      self.configuration = configuration
      super.init()
      _ = borealis
      UNUserNotificationCenter.current().delegate = self
    }

    func start() {
      Self.post(.jpfNetworkIsConnecting)
      do throws(DeviceSetUpError) {
        try borealis.start()
      } catch {
        Self.post(.jpfServiceError, ["error": error.description])
      }
    }

    func whenRegistered(_ completion: @escaping (Int32, String?) -> Void) {
      if let id = borealis.device.registrationID { return completion(0, id.text) }
      waiting.append(completion)
    }

    static func post(_ name: Notification.Name, _ userInfo: [String: Any]? = nil) {
      NotificationCenter.default.post(name: name, object: nil, userInfo: userInfo)
    }
  }

  @available(iOSApplicationExtension, unavailable)
  extension JPushApp: BorealisListener {
    func didRegister(_ registrationID: RegistrationID) {
      Self.post(.jpfNetworkDidRegister, ["RegistrationID": registrationID.text])
      answerWaiting()
    }

    func didConnect(pending: UInt32) {
      Self.post(.jpfNetworkDidSetup)
      Self.post(.jpfNetworkDidLogin)
      answerWaiting()
    }

    func didDisconnect(_ reason: DisconnectReason, retryIn: UInt64?) {
      if case .refused(let code, let message) = reason, borealis.device.registrationID == nil {
        Self.post(.jpfNetworkFailedRegister, ["code": Int(code.rawValue), "message": message])
      }
      Self.post(.jpfNetworkDidClose)
    }

    /// Shows the notification, and passes the message on with the members that JPush gives it.
    func didReceive(_ push: DevicePush) -> Bool {
      borealis.show(push)
      guard let message = push.json?["message"] else { return true }
      var userInfo: [String: Any] = [
        "content": message["msg_content"]?.string ?? "", "_j_msgid": NSNumber(value: push.messageID.rawValue),
      ]
      userInfo["title"] = message["title"]?.string
      userInfo["content_type"] = message["content_type"]?.string
      if let extras = message["extras"]?.object {
        let bytes = Data(JSONWriter.serialize(.object(extras)))
        userInfo["extras"] = try? JSONSerialization.jsonObject(with: bytes)
      }
      Self.post(.jpfNetworkDidReceiveMessage, userInfo)
      return true
    }

    private func answerWaiting() {
      guard let id = borealis.device.registrationID else { return }
      let completions = waiting
      waiting = []
      for completion in completions { completion(0, id.text) }
    }
  }

  @available(iOSApplicationExtension, unavailable)
  extension JPushApp: UNUserNotificationCenterDelegate {
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
        delegate.jpushNotificationCenter(.current(), willPresent: notification) { options in
          done(UNNotificationPresentationOptions(rawValue: UInt(bitPattern: options)))
        }
      }
    }

    nonisolated func userNotificationCenter(
      _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
      withCompletionHandler completionHandler: @escaping () -> Void
    ) {
      nonisolated(unsafe) let (response, done) = (response, completionHandler)
      Task { @MainActor in
        borealis.handle(response)
        guard let delegate else { return done() }
        delegate.jpushNotificationCenter(.current(), didReceive: response, withCompletionHandler: done)
      }
    }
  }
#endif
