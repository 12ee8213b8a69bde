import BorealisBase
import Foundation
import UserNotifications

/// What a push's object for iOS says of a notification's looks.
struct NotificationText {
  private let notification: JSONValue

  init(_ notification: JSONValue) { self.notification = notification }

  /// Puts title, texts, sound, badge and groups into a content; what the object does not name stays.
  func apply(to content: UNMutableNotificationContent) {
    let alert = notification["alert"]
    content.title = alert?["title"]?.string ?? notification["title"]?.string ?? content.title
    content.subtitle = alert?["subtitle"]?.string ?? content.subtitle
    content.body = alert?.string ?? alert?["body"]?.string ?? content.body
    content.threadIdentifier = notification["thread-id"]?.string ?? content.threadIdentifier
    content.categoryIdentifier = notification["category"]?.string ?? content.categoryIdentifier
    switch notification["sound"]?.string {
    case nil, "": break
    case "default": content.sound = .default
    case let name?: content.sound = UNNotificationSound(named: UNNotificationSoundName(name))
    }
    if let badge = notification["badge"]?.int64, badge >= 0 { content.badge = NSNumber(value: badge) }
    if let extras = notification["extras"]?.object {
      let bytes = Data(JSONWriter.serialize(.object(extras)))
      let members = (try? JSONSerialization.jsonObject(with: bytes)) as? [String: Any] ?? [:]
      content.userInfo.merge(members) { _, new in new }
    }
  }
}
