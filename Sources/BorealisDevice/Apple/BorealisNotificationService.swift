import BorealisBase
import BorealisProtocol
import Foundation
import UserNotifications

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A notification service extension: it decrypts the content, attaches a picture, and reports the arrival
/// to the server. An app's extension is a subclass of it, mostly an empty one:
///
///     final class NotificationService: BorealisNotificationService {}
///
/// The App Group that it shares with the app is in its Info.plist under `BorealisAppGroup`. Until the app
/// has started for the first time, and for notifications of others, it shows what came.
///
/// JPUSHService: `jpushReceiveNotificationRequest:with:`.
open class BorealisNotificationService: UNNotificationServiceExtension {
  /// The largest attachment, in bytes.
  private static let mostBytes = 10 << 20
  /// Seconds for a request: the system gives the extension 30 for all.
  private static let patience: TimeInterval = 20

  private let work = DeviceLock<NotificationWork?>(nil)

  /// Made by the system.
  public override init() { super.init() }

  /// The App Group.
  open var appGroup: String {
    Bundle.main.object(forInfoDictionaryKey: "BorealisAppGroup") as? String ?? ""
  }

  /// The address of the picture or other file to attach, at best over HTTPS; nil for none. By default the
  /// member `attachment`, or the first `url` in Getui's `multimedia`.
  open func attachmentURL(in userInfo: [AnyHashable: Any]) -> URL? {
    let media = userInfo["multimedia"] as? [[String: Any]]
    let address = userInfo["attachment"] as? String ?? media?.first?["url"] as? String
    return address.flatMap { URL(string: $0) }
  }

  /// Changes the content before it is shown. By default nothing.
  open func adapt(_ content: UNMutableNotificationContent) {}

  /// Called by the system.
  open override func didReceive(
    _ request: UNNotificationRequest,
    withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    guard let payload = Self.payload(of: request),
      let content = request.content.mutableCopy() as? UNMutableNotificationContent
    else { return contentHandler(request.content) }
    let folder = SharedFolder(group: appGroup)
    let handover = folder?.handover
    if let handover { Self.decrypt(content, with: handover.keyRing) }
    adapt(content)
    let work = NotificationWork(content, contentHandler)
    self.work.withLock { $0 = work }
    if let folder, let handover {
      work.begin()
      Self.report(payload, handover) { isReported in
        folder.note(payload.messageID, isReported: isReported)
        work.end()
      }
    }
    if let url = attachmentURL(in: content.userInfo) {
      work.begin()
      Self.load(url, id: payload.messageID) { file in
        if let file { work.attach(file) }
        work.end()
      }
    }
    work.end()
  }

  /// Called by the system: what is there is shown.
  open override func serviceExtensionTimeWillExpire() { work.withLock { $0 }?.finish() }
}

// MARK: - Steps
extension BorealisNotificationService {
  private static func payload(of request: UNNotificationRequest) -> RemotePayload? {
    let userInfo = request.content.userInfo
    guard JSONSerialization.isValidJSONObject(userInfo),
      let bytes = try? JSONSerialization.data(withJSONObject: userInfo)
    else { return nil }
    return RemotePayload(Array(bytes))
  }

  /// Puts the real text in the place of the neutral one, if there is one and its key is known.
  private static func decrypt(_ content: UNMutableNotificationContent, with keys: DeviceKeyRing) {
    guard let encrypted = content.userInfo["encrypted"],
      let bytes = try? JSONSerialization.data(withJSONObject: ["notification": ["encrypted": encrypted]]),
      case .opened(let opened, _) = keys.read(Array(bytes)),
      let notification = (try? parseJSON(opened))?["notification"]
    else { return }
    NotificationText(notification).apply(to: content)
  }

  /// Tells the server that the notification is shown.
  private static func report(
    _ payload: RemotePayload, _ handover: SharedFolder.Handover, done: @escaping @Sendable (Bool) -> Void
  ) {
    let receipt: [String: Any] = [
      "app_key": handover.appKey, "registration_id": handover.registrationID, "secret": handover.secret,
      "shown": ["\(payload.messageID.rawValue)"],
    ]
    guard payload.isVisible, let url = URL(string: handover.api + "/v1/receipts"),
      let body = try? JSONSerialization.data(withJSONObject: receipt)
    else { return done(!payload.isVisible) }
    var request = URLRequest(url: url, timeoutInterval: patience)
    request.httpMethod = "POST"
    request.httpBody = body
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    URLSession.shared.dataTask(with: request) { _, response, _ in
      done((response as? HTTPURLResponse)?.statusCode == 200)
    }.resume()
  }

  /// Loads a file to attach; its name keeps the ending, from which the system knows the type.
  private static func load(_ url: URL, id: MessageID, done: @escaping @Sendable (URL?) -> Void) {
    let request = URLRequest(url: url, timeoutInterval: patience)
    URLSession.shared.downloadTask(with: request) { file, response, _ in
      guard let file, (response as? HTTPURLResponse)?.statusCode == 200,
        let size = (try? FileManager.default.attributesOfItem(atPath: file.path))?[.size] as? Int,
        size <= mostBytes
      else { return done(nil) }
      let name = "\(id.rawValue)-" + (response?.suggestedFilename ?? url.lastPathComponent)
      let place = FileManager.default.temporaryDirectory.appendingPathComponent(name)
      try? FileManager.default.removeItem(at: place)
      done((try? FileManager.default.moveItem(at: file, to: place)) == nil ? nil : place)
    }.resume()
  }
}

/// A notification until it is shown, once. `@unchecked Sendable`: all is used while `lock` is held.
private final class NotificationWork: @unchecked Sendable {
  private let lock = NSLock()
  private let content: UNMutableNotificationContent
  private var show: ((UNNotificationContent) -> Void)?
  /// What is under way, the beginning included.
  private var steps = 1

  init(_ content: UNMutableNotificationContent, _ show: @escaping (UNNotificationContent) -> Void) {
    (self.content, self.show) = (content, show)
  }

  func begin() { lock.withLock { steps += 1 } }

  func attach(_ file: URL) {
    guard let attachment = try? UNNotificationAttachment(identifier: "borealis", url: file) else { return }
    lock.withLock { if show != nil { content.attachments = [attachment] } }
  }

  func end() {
    let isLast = lock.withLock {
      steps -= 1
      return steps == 0
    }
    if isLast { finish() }
  }

  func finish() {
    let last = lock.withLock {
      defer { show = nil }
      return show
    }
    last?(content)
  }
}
