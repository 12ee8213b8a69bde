/// What may keep the direct connection from bringing a push, and what comes after that.
extension WhyCause {
  /// The push was only for devices that were connected, and this one was not.
  package static let onlineOnly = WhyCause(
    "online_only", .extendLifetime,
    "The push was only for devices that were connected, and this one was not.",
    "推送仅发送给当时在线的设备，此设备不在线。")
  /// No channel reaches this device.
  package static let noChannel = WhyCause(
    "no_channel", .changeStrategy,
    "With the push's strategy no channel reaches this device.",
    "按推送策略，没有可用通道到达该设备。")
  /// Offline: according to the records, the device has not been connected since it registered.
  package static let neverConnected = WhyCause(
    "never_connected", .keepAlive,
    "According to the records, the device has not been connected since it registered.",
    "就记录而言，设备注册后从未连接。")
  package static let offlineHeartbeatLost = WhyCause(
    "offline_heartbeat_lost", .keepAlive,
    "The device is offline: its heartbeats stopped.",
    "设备离线：心跳丢失。")
  /// Offline: the device or the network closed the connection.
  package static let offlineClosed = WhyCause(
    "offline_closed", .keepAlive,
    "The device is offline: it, or the network, closed the connection.",
    "设备离线：设备或网络关闭了连接。")
  /// Offline: the app logged out.
  package static let offlineLoggedOut = WhyCause(
    "offline_logged_out", .logInAgain,
    "The device is offline: the app logged out.",
    "设备离线：应用主动退出。")
  /// Offline: another login of the same registration replaced the connection.
  package static let offlineReplaced = WhyCause(
    "offline_replaced", .logInAgain,
    "The device is offline: another login of the same registration replaced its connection.",
    "设备离线：同一注册在别处登录，顶替了连接。")
  /// Offline since the server went down, or was restarted.
  package static let offlineServer = WhyCause(
    "offline_server", .keepAlive,
    "The device has not reconnected since the server was stopped.",
    "服务器停止后设备没有重新连接。")
  package static let offlineAppDisabled = WhyCause(
    "offline_app_disabled", .enableApp,
    "The app is disabled.",
    "应用已被停用。")
  /// Offline: the device did not read the data that was sent to it.
  package static let offlineTooSlow = WhyCause(
    "offline_too_slow", .updateLibrary,
    "The device is offline: it did not read the data that was sent to it.",
    "设备离线：未读取发送给它的数据。")
  /// Offline: the device violated the protocol.
  package static let offlineProtocolError = WhyCause(
    "offline_protocol_error", .updateLibrary,
    "The device is offline: it violated the protocol.",
    "设备离线：违反了通信协议。")
  /// Offline: the connection broke.
  package static let offlineBroken = WhyCause(
    "offline_broken", .keepAlive,
    "The device is offline: the connection broke.",
    "设备离线：连接中断。")
  /// Offline; it was not recorded how the connection ended.
  package static let offlineUnknown = WhyCause(
    "offline_unknown", .keepAlive,
    "The device is offline; it was not recorded how its connection ended.",
    "设备离线；连接如何结束没有记录。")
  /// The device reconnected after the push had ended.
  package static let cameBackLate = WhyCause(
    "came_back_late", .extendLifetime,
    "The device reconnected after the push had ended.",
    "设备重新上线时推送已结束。")
  /// It was not recorded whether the device was connected before the push ended; it was connected later.
  package static let connectionUnknown = WhyCause(
    "connection_unknown", .extendLifetime,
    "It was not recorded whether the device was connected before the push ended; it was "
      + "connected later.",
    "推送结束前设备是否在线没有记录；设备之后在线过。")
  /// The app was not in the foreground, as an iPhone must be to receive pushes over the direct connection.
  package static let notInForeground = WhyCause(
    "not_in_foreground", .openApp,
    "The app is in the background; on iOS it receives pushes over the direct connection only in "
      + "the foreground.",
    "应用不在前台；iOS 应用只有在前台才能通过长连接接收。")
  /// The device was connected, and did not acknowledge it.
  package static let notAcknowledged = WhyCause(
    "not_acknowledged", .updateLibrary,
    "The device is connected, or was until the push ended, and has not acknowledged it.",
    "设备在线（或直到推送结束一直在线），但没有确认收到。")
  /// The device is given time to acknowledge it; then a vendor's channel brings it.
  package static let awaitingAcknowledgement = WhyCause(
    "awaiting_acknowledgement", .wait,
    "The push waits for the device's acknowledgement until then; after that, the named channel brings it.",
    "在此时间之前等待设备确认；超时后改由所列通道下发。")
  /// The device did not acknowledge it in time, and a vendor's channel got it.
  package static let notAcknowledgedInTime = WhyCause(
    "not_acknowledged_in_time", .updateLibrary,
    "The device had not acknowledged it by then, so the named channel got it.",
    "设备在此时间之前没有确认，推送已改由所列通道下发。")
  /// Too many newer pushes were waiting, for the device alone or of the app for several.
  package static let queueFull = WhyCause(
    "queue_full", .sendFewer,
    "Too many newer pushes of the app were waiting.",
    "应用待送达的新推送过多，本条已被丢弃（队列已满）。")
  /// Its time to live has ended.
  package static let expired = WhyCause(
    "expired", .extendLifetime,
    "The push's time to live has ended.",
    "推送已超过有效期。")
  /// Devices do not report whether notifications are allowed.
  package static let permissionUnknown = WhyCause(
    "permission_unknown", .checkPermission,
    "Devices do not report whether the user allows notifications.",
    "设备不会上报用户是否允许通知。")
  /// The device has not reported that it was shown.
  package static let notReported = WhyCause(
    "not_reported", .checkPermission,
    "The device has not reported that it was shown.",
    "设备没有上报展示。")
  /// The app is in the foreground, where iOS shows no banner unless the app asks for it.
  package static let inForeground = WhyCause(
    "in_foreground", .presentInForeground,
    "The app is in the foreground: iOS shows no banner there unless the app asks for it.",
    "应用在前台：除非应用主动要求，iOS 不会显示横幅。")
  /// It was shown; if it is no longer visible, it was cleared.
  package static let shownBefore = WhyCause(
    "shown_before", .nothing,
    "It was shown. If it is no longer visible, it was cleared.",
    "已展示过；如现在看不到，则已被清除。")
  /// The user tapped it.
  package static let tapped = WhyCause(
    "tapped", .nothing,
    "The user tapped it.",
    "用户已点击。")
  /// The callback to the app's server failed and will be retried.
  package static let callbackFailing = WhyCause(
    "callback_failing", .mendCallback,
    "The callback to your server failed and will be retried.",
    "回调您的服务器失败，正在重试。")
  /// The callback to the app's server was given up.
  package static let callbackGivenUp = WhyCause(
    "callback_given_up", .mendCallback,
    "The callback to your server failed and was given up.",
    "已放弃回调您的服务器。")

  static let ofConnection: [WhyCause] = [
    .onlineOnly, .noChannel, .neverConnected, .offlineHeartbeatLost, .offlineClosed, .offlineLoggedOut,
    .offlineReplaced, .offlineServer, .offlineAppDisabled, .offlineTooSlow, .offlineProtocolError,
    .offlineBroken, .offlineUnknown, .cameBackLate, .connectionUnknown, .notInForeground, .notAcknowledged,
    .awaitingAcknowledgement, .notAcknowledgedInTime, .queueFull, .expired, .permissionUnknown, .notReported,
    .inForeground, .shownBefore, .tapped,
    .callbackFailing, .callbackGivenUp,
  ]
}
