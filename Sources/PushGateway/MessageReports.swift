import PushBase
import PushDomain
import PushJSON
import PushRouter

/// The formats of JPush's reports, with its spellings. A counter that does not apply to a push is null, never 0; so are
/// all counters of an unknown push.
enum MessageReports {
  /// `GET /v3/received`.
  static func received(_ id: MessageID, _ report: PushReport?) -> JSONValue {
    [
      "msg_id": .string(id.text), "android_received": count(report?.ownOthers, \.received),
      "ios_apns_sent": count(report?.funnel(of: ReportChannels.apns), \.sent),
      "ios_apns_received": count(report?.funnel(of: ReportChannels.apns), \.received),
      "ios_msg_received": count(report?.ownIOS, \.received), "wp_mpns_sent": nil,
    ]
  }

  /// `GET /v3/received/detail`.
  static func receivedDetail(_ id: MessageID, _ report: PushReport?) -> JSONValue {
    [
      "msg_id": .string(id.text), "jpush_received": count(report?.ownOthers, \.received),
      "android_pns_sent": nil, "android_pns_received": nil,
      "ios_apns_sent": count(report?.funnel(of: ReportChannels.apns), \.sent),
      "ios_apns_received": count(report?.funnel(of: ReportChannels.apns), \.received),
      "ios_msg_received": count(report?.ownIOS, \.received), "live_acivity_sent": nil,
      "live_acivity_received": nil, "quickapp_jpush_received": nil, "quickapp_pns_sent": nil,
      "hmos_hmpns_sent": nil, "hmos_hmpns_received": nil, "hmos_msg_sent": nil, "hmos_msg_received": nil,
      "wp_mpns_sent": nil,
    ]
  }

  /// `GET /v3/messages`.
  static func messages(_ id: MessageID, _ report: PushReport?) -> JSONValue {
    let (apple, ios, others) = (report?.funnel(of: ReportChannels.apns), report?.ownIOS, report?.ownOthers)
    let hasIOS = apple?.isEmpty == false || ios?.isEmpty == false
    return [
      "msg_id": .string(id.text),
      "android": others?.isEmpty == false
        ? [
          "target": count(others, \.target), "online_push": count(others, \.sent),
          "received": count(others, \.received), "click": count(others, \.tapped), "msg_click": nil,
        ] : nil,
      "ios": hasIOS
        ? [
          "apns_target": count(apple, \.target), "apns_sent": count(apple, \.sent),
          "apns_received": count(apple, \.received), "click": count(both(apple, ios), \.tapped),
          "target": count(ios, \.target), "received": count(ios, \.received),
        ] : nil,
      "winphone": nil,
    ]
  }

  /// `GET /v3/messages/detail`.
  static func messagesDetail(_ id: MessageID, _ report: PushReport?) -> JSONValue {
    let (apple, ios, others) = (report?.funnel(of: ReportChannels.apns), report?.ownIOS, report?.ownOthers)
    return [
      "msg_id": .string(id.text), "jpush": ownDetail(list(others)), "android_pns": nil,
      "ios": iosDetail(list(apple), list(ios)), "quickapp_jpush": nil, "quickapp_pns": nil, "winphone": nil,
      "details": report.map(details) ?? nil,
    ]
  }

  /// `GET /v3/group/messages/detail`: the sums over the apps of a group.
  static func groupMessagesDetail(_ id: MessageID, _ reports: [PushReport]) -> JSONValue {
    [
      "group_msgid": .string(id.text), "jpush": ownDetail(reports.map(\.ownOthers)), "android_pns": nil,
      "ios": iosDetail(reports.map { $0.funnel(of: ReportChannels.apns) }, reports.map(\.ownIOS)),
      "hmos": nil,
    ]
  }

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

  private static func details(_ report: PushReport) -> JSONValue {
    [
      "notification": part(
        report.ownOthers(.notification), report.ownIOS(.notification), report.funnel(of: ReportChannels.apns),
        hasReceipts: true),
      "message": part(report.ownOthers(.message), report.ownIOS(.message), nil, hasReceipts: false),
      "inapp": nil, "live_activity": nil,
    ]
  }

  private static let vendors = [
    "xiaomi", "huawei", "honor", "meizu", "oppo", "vivo", "asus", "fcm", "tuibida", "nio",
  ]

  private static func part(
    _ others: PushFunnel, _ ios: PushFunnel, _ apple: PushFunnel?, hasReceipts: Bool
  ) -> JSONValue {
    var all = others.union(ios)
    if let apple { all = all.union(apple) }
    guard !all.isEmpty else { return nil }
    var object = JSONObject()
    for (name, value) in five(all, hasReceipts) { object.set(name, value) }
    var android = JSONObject()
    android.set("jg_android", leaf(others, hasReceipts))
    for vendor in vendors { android.set(vendor, nil) }
    object.set("sub_android", others.isEmpty ? nil : .object(android))
    let hasIOS = !ios.isEmpty || apple?.isEmpty == false
    object.set(
      "sub_ios",
      hasIOS
        ? ["jg_ios": leaf(ios, hasReceipts), "voip": nil, "apns": leaf(apple ?? nil, hasReceipts)] : nil)
    object.set("sub_quickapp", nil)
    object.set("sub_hmos", nil)
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
