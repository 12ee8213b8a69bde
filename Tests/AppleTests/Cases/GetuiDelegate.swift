import BorealisGetui
import Foundation
import UIKit
import UserNotifications

// Apart from the tests for the same reason as `Phone`.

/// What an app learns through Getui's delegate: keeps a line for each call.
@MainActor
final class GetuiDelegate: GeTuiSdkDelegate {
  private(set) var seen: [String] = []
  private let lines: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init() { (lines, continuation) = AsyncStream<String>.makeStream() }

  private func note(_ line: String) {
    seen.append(line)
    continuation.yield(line)
  }

  /// Waits for a line.
  func wait(for line: String) async {
    guard !seen.contains(line) else { return }
    var all = lines.makeAsyncIterator()
    while let next = await all.next(isolation: #isolation), next != line {}
  }

  private func code(_ error: (any Error)?) -> String { error.map { "\(($0 as NSError).code)" } ?? "-" }

  func geTuiSdkDidRegisterClient(_ clientId: String) { note("client \(clientId)") }

  func geTuiSDkDidNotifySdkState(_ status: SdkStatus) { note("state \(status)") }

  func geTuiSdkDidOccurError(_ error: any Error) { note("error \(error.localizedDescription)") }

  func getuiSdkGrantAuthorization(_ granted: Bool, error: (any Error)?) { note("granted \(granted)") }

  func geTuiSdkNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    note("presents")
    completionHandler([.sound])
  }

  func geTuiSdkDidReceiveNotification(
    _ userInfo: [AnyHashable: Any], notificationCenter center: UNUserNotificationCenter?,
    response: UNNotificationResponse?,
    fetchCompletionHandler completionHandler: ((UIBackgroundFetchResult) -> Void)?
  ) { note("tap \(userInfo["payload"] as? String ?? "")") }

  func geTuiSdkDidReceivePayloadData(
    _ payloadData: Data, andTaskId taskId: String, andMsgId msgId: String, andOffLine offLine: Bool,
    fromGtAppId appId: String
  ) { note("payload \(String(decoding: payloadData, as: UTF8.self)) \(taskId) \(msgId) \(offLine)") }

  func geTuiSdkDidSetPushMode(_ isModeOff: Bool, error: (any Error)?) { note("off \(isModeOff)") }

  func geTuiSdkDidAliasAction(
    _ action: String, result isSuccess: Bool, sequenceNum sn: String, error: (any Error)?
  ) { note("\(action) \(sn) \(isSuccess) \(code(error))") }

  func geTuiSdkDidSetTagsAction(_ sequenceNum: String, result isSuccess: Bool, error: (any Error)?) {
    note("tags \(sequenceNum) \(isSuccess) \(code(error))")
  }

  func getuiSdkDidQueryTag(_ tags: [Any], sequenceNum sn: String, error: (any Error)?) {
    note("queried \(tags) \(sn) \(code(error))")
  }

  func geTuiSdkDidRegisterLiveActivity(_ sequenceNum: String, result isSuccess: Bool, error: (any Error)?) {
    note("activity \(sequenceNum) \(isSuccess) \(code(error))")
  }
}
