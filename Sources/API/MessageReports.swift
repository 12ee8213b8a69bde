import BorealisBase
import Core
import Model

/// The formats of JPush's reports, with its spellings. A counter that does not apply to a push is null, never
/// 0; so are all counters of an unknown push. `android_pns` and `details` are always objects: JPush's Java
/// client fails at null there.
struct MessageReports {
  /// The names of the channels.
  let names: [ChannelID: String]

  /// `GET /v3/received`.
  func received(_ id: MessageID, _ report: PushReport?) -> JSONValue {
    [
      "msg_id": .string(id.text), "android_received": Self.count(report?.ownOthers, \.received),
      "ios_apns_sent": Self.count(report?.funnel(of: ReportChannels.apns), \.sent),
      "ios_apns_received": Self.count(report?.funnel(of: ReportChannels.apns), \.received),
      "ios_msg_received": Self.count(report?.ownIOS, \.received), "wp_mpns_sent": nil,
    ]
  }

  /// `GET /v3/received/detail`.
  func receivedDetail(_ id: MessageID, _ report: PushReport?) -> JSONValue {
    [
      "msg_id": .string(id.text), "jpush_received": Self.count(report?.ownOthers, \.received),
      "android_pns_sent": Self.sum(makers(report).map(\.1), \.sent),
      "android_pns_received": Self.sum(makers(report).map(\.1), \.received),
      "ios_apns_sent": Self.count(report?.funnel(of: ReportChannels.apns), \.sent),
      "ios_apns_received": Self.count(report?.funnel(of: ReportChannels.apns), \.received),
      "ios_msg_received": Self.count(report?.ownIOS, \.received), "live_acivity_sent": nil,
      "live_acivity_received": nil, "quickapp_jpush_received": nil, "quickapp_pns_sent": nil,
      "hmos_hmpns_sent": Self.count(hmos(report), \.sent),
      "hmos_hmpns_received": Self.count(hmos(report), \.received), "hmos_msg_sent": nil,
      "hmos_msg_received": nil,
      "wp_mpns_sent": nil,
    ]
  }

  /// `GET /v3/messages`.
  func messages(_ id: MessageID, _ report: PushReport?) -> JSONValue {
    let (apple, ios, others) = (report?.funnel(of: ReportChannels.apns), report?.ownIOS, report?.ownOthers)
    let hasIOS = apple?.isEmpty == false || ios?.isEmpty == false
    return [
      "msg_id": .string(id.text),
      "android": others?.isEmpty == false
        ? [
          "target": Self.count(others, \.target), "online_push": Self.count(others, \.sent),
          "received": Self.count(others, \.received), "click": Self.count(others, \.tapped), "msg_click": nil,
        ] : nil,
      "ios": hasIOS
        ? [
          "apns_target": Self.count(apple, \.target), "apns_sent": Self.count(apple, \.sent),
          "apns_received": Self.count(apple, \.received),
          "click": Self.count(Self.both(apple, ios), \.tapped),
          "target": Self.count(ios, \.target), "received": Self.count(ios, \.received),
        ] : nil,
      "winphone": nil,
    ]
  }

  /// `GET /v3/messages/detail`.
  func messagesDetail(_ id: MessageID, _ report: PushReport?) -> JSONValue {
    let (apple, ios, others) = (report?.funnel(of: ReportChannels.apns), report?.ownIOS, report?.ownOthers)
    return [
      "msg_id": .string(id.text), "jpush": Self.ownDetail(Self.list(others)),
      "android_pns": makersDetail([makers(report)]), "ios": Self.iosDetail(Self.list(apple), Self.list(ios)),
      "quickapp_jpush": nil, "quickapp_pns": nil, "winphone": nil,
      "details": details(report),
    ]
  }

  /// `GET /v3/group/messages/detail`: the sums over the apps of a group.
  func groupMessagesDetail(_ id: MessageID, _ reports: [PushReport]) -> JSONValue {
    [
      "group_msgid": .string(id.text), "jpush": Self.ownDetail(reports.map(\.ownOthers)),
      "android_pns": makersDetail(reports.map(makers)),
      "ios": Self.iosDetail(reports.map { $0.funnel(of: ReportChannels.apns) }, reports.map(\.ownIOS)),
      "hmos": Self.hmosDetail(reports.compactMap(hmos)),
    ]
  }

  // MARK: Makers' channels

  /// What the channels of Android's makers and platforms have brought, by their names.
  private func makers(_ report: PushReport?) -> [(String, PushFunnel)] {
    (report?.funnels ?? []).compactMap { channel, funnel in
      guard let name = names[channel], ReportChannels.android.contains(where: { $0.0 == name }) else {
        return nil
      }
      return (name, funnel)
    }
  }

  /// What Push Kit of HarmonyOS has brought.
  private func hmos(_ report: PushReport?) -> PushFunnel? {
    (report?.funnels ?? []).first { names[$0.0] == ReportChannels.hmos }?.1
  }

  private static func hmosDetail(_ funnels: [PushFunnel]) -> JSONValue {
    guard funnels.contains(where: { !$0.isEmpty }) else { return nil }
    return [
      "hmpns_target": sum(funnels, \.target), "hmpns_sent": sum(funnels, \.sent),
      "hmpns_received": sum(funnels, \.received), "hmpns_click": sum(funnels, \.tapped),
      "msg_target": nil, "msg_received": nil, "msg_click": nil,
    ]
  }

  /// The sums over the apps of a group, or over one.
  private func makersDetail(_ apps: [[(String, PushFunnel)]]) -> JSONValue {
    let all = apps.flatMap { $0 }
    // A device counts once in an app, whatever ways there were to it.
    let each = apps.map { $0.reduce(into: PushFunnel()) { $0 = $0.union($1.1) } }
    var object = JSONObject()
    object.set("pns_target", Self.sum(each, \.target))
    object.set("pns_sent", Self.sum(each, \.sent))
    object.set("pns_received", Self.sum(each, \.received))
    object.set("pns_display", Self.sum(each, \.shown))
    for (name, detail) in ReportChannels.android {
      let own = all.filter { $0.0 == name }.map(\.1)
      object.set(
        detail,
        own.contains { !$0.isEmpty }
          ? [
            "target": Self.sum(own, \.target), "sent": Self.sum(own, \.sent),
            "received": Self.sum(own, \.received), "display": Self.sum(own, \.shown),
          ] : nil)
    }
    return .object(object)
  }

  // MARK: Our connection and Apple

  private static func ownDetail(_ funnels: [PushFunnel]) -> JSONValue {
    guard funnels.contains(where: { !$0.isEmpty }) else { return nil }
    return [
      "target": sum(funnels, \.target), "online_push": nil, "sent": sum(funnels, \.sent),
      "received": sum(funnels, \.received), "display": sum(funnels, \.shown), "click": sum(funnels, \.tapped),
      "msg_click": nil,
    ]
  }

  private static func iosDetail(_ apple: [PushFunnel], _ own: [PushFunnel]) -> JSONValue {
    guard (apple + own).contains(where: { !$0.isEmpty }) else { return nil }
    return [
      "apns_target": sum(apple, \.target), "apns_sent": sum(apple, \.sent),
      "apns_received": sum(apple, \.received), "apns_display": sum(apple, \.shown),
      "apns_click": sum(apple, \.tapped), "msg_target": sum(own, \.target),
      "msg_received": sum(own, \.received), "msg_display": sum(own, \.shown),
      "msg_click": sum(own, \.tapped),
    ]
  }

  private static func list(_ funnel: PushFunnel?) -> [PushFunnel] { funnel.map { [$0] } ?? [] }

  // MARK: By part

  private func details(_ report: PushReport?) -> JSONValue {
    guard let report else {
      return ["notification": nil, "message": nil, "inapp": nil, "live_activity": nil]
    }
    return [
      "notification": Self.part(
        report.ownOthers(.notification), report.ownIOS(.notification),
        report.funnel(ofLeg: DeliveryLeg(ReportChannels.apns)), report.funnel(ofLeg: ReportChannels.calls),
        makers(report), hmos(report), hasReceipts: true),
      "message": Self.part(
        report.ownOthers(.message), report.ownIOS(.message), nil, nil, [], nil, hasReceipts: false),
      "inapp": Self.part(
        report.inAppOthers, report.inAppIOS, nil, nil, [], nil, hasReceipts: true),
      "live_activity": nil,
    ]
  }

  private static let vendors = [
    "xiaomi", "huawei", "honor", "meizu", "oppo", "vivo", "asus", "fcm", "tuibida", "nio",
  ]

  private static func part(
    _ others: PushFunnel, _ ios: PushFunnel, _ apple: PushFunnel?, _ calls: PushFunnel?,
    _ makers: [(String, PushFunnel)], _ hmos: PushFunnel?, hasReceipts: Bool
  ) -> JSONValue {
    var all = makers.reduce(others.union(ios)) { $0.union($1.1) }
    for funnel in [apple, calls, hmos].compactMap({ $0 }) { all = all.union(funnel) }
    guard !all.isEmpty else { return nil }
    var object = JSONObject()
    for (name, value) in five(all, hasReceipts) { object.set(name, value) }
    var android = JSONObject()
    android.set("jg_android", leaf(others, hasReceipts))
    for vendor in vendors {
      android.set(vendor, leaf(makers.first { $0.0 == vendor }?.1, hasReceipts))
    }
    let hasAndroid = !others.isEmpty || makers.contains { !$0.1.isEmpty }
    object.set("sub_android", hasAndroid ? .object(android) : nil)
    let hasIOS = [ios, apple, calls].contains { $0?.isEmpty == false }
    object.set(
      "sub_ios",
      hasIOS
        ? [
          "jg_ios": leaf(ios, hasReceipts), "voip": leaf(calls, hasReceipts),
          "apns": leaf(apple, hasReceipts),
        ] : nil)
    object.set("sub_quickapp", nil)
    // What goes over the direct connection counts under `jg_android`.
    let hmpns = leaf(hmos, hasReceipts)
    object.set("sub_hmos", hmpns == .null ? nil : ["hmpns": hmpns, "jg_hmos": nil])
    return .object(object)
  }

  private static func leaf(_ funnel: PushFunnel?, _ hasReceipts: Bool) -> JSONValue {
    guard let funnel, !funnel.isEmpty else { return nil }
    var object = JSONObject()
    for (name, value) in five(funnel, hasReceipts) { object.set(name, value) }
    return .object(object)
  }

  private static func five(_ funnel: PushFunnel, _ hasReceipts: Bool) -> [(String, JSONValue)] {
    [
      ("target", count(funnel, \.target)), ("sent", count(funnel, \.sent)),
      ("received", count(funnel, \.received)),
      ("display", hasReceipts ? count(funnel, \.shown) : nil),
      ("click", hasReceipts ? count(funnel, \.tapped) : nil),
    ]
  }

  private static func both(_ one: PushFunnel?, _ other: PushFunnel?) -> PushFunnel? {
    guard let one, let other else { return one ?? other }
    return one.union(other)
  }

  private static func count(_ funnel: PushFunnel?, _ set: KeyPath<PushFunnel, NumberSet>) -> JSONValue {
    sum(list(funnel), set)
  }

  /// Null if it has no targets.
  private static func sum(_ funnels: [PushFunnel], _ set: KeyPath<PushFunnel, NumberSet>) -> JSONValue {
    guard funnels.contains(where: { !$0.isEmpty }) else { return nil }
    return .number(JSONNumber(Int64(funnels.reduce(0) { $0 + $1[keyPath: set].count })))
  }
}
