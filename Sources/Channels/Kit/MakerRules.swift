import BorealisBase
import Model

/// What a maker's service allows, each value with the page and the date that it is from. Requests are built
/// by these rules, and senders see them before a push is sent.
package struct MakerRules: Sendable {
  /// A value and where it is from.
  struct Rule<Value: Sendable>: Sendable {
    let value: Value
    /// The address or the number of the page, and the page's date, or else when it was read.
    let page: String
    let date: String

    init(_ value: Value, _ page: String, _ date: String) {
      self.value = value
      self.page = page
      self.date = date
    }
  }

  /// The most of a text, in the unit in which the maker counts.
  struct TextLimit: Sendable {
    enum Unit: Sendable { case utf16, halfWidth }

    let most: Int
    let unit: Unit

    init(_ most: Int, _ unit: Unit = .utf16) {
      self.most = most
      self.unit = unit
    }

    /// A text that is as long as it may be.
    func fit(_ text: String) -> String {
      switch unit {
      case .utf16: VendorText.shortened(text, to: most)
      case .halfWidth: VendorText.shortened(text, to: most, width: VendorText.halfWidth)
      }
    }
  }

  /// How many notifications for marketing a device shows of an app in a day: of apps for news, and of others.
  struct DailyCap: Sendable {
    let news, others: Int
    /// Over the maker's own channel, where apps register theirs.
    var withoutChannel: Int?
  }

  /// The hours of the day in China in which a maker shows no notifications, or none for marketing. They may
  /// span midnight.
  struct QuietHours: Sendable {
    let from, to: Int
    let isForAll: Bool
  }

  /// What messages over a private channel need.
  struct TemplateDuty: Sendable {
    let mostValues: Int
    let valueLength: ClosedRange<Int>
  }

  /// The most of a title, of a text, and of one in the style for long texts.
  var title, text, longText: Rule<TextLimit>?
  /// The most bytes of a request without tokens.
  var body: Rule<Int>?
  /// The most of what the app gets, and of the address that a tap opens; bytes, or characters where the maker
  /// counts those.
  var data, address: Rule<Int>?
  /// Seconds for which the service keeps a message. What is good for a shorter time is for devices that are
  /// online.
  var life: Rule<ClosedRange<Int64>>
  /// The most seconds for marketing, where they are fewer.
  var marketingLife: Rule<Int64>?
  /// The most devices of a request.
  var devices: Rule<Int>
  /// The categories of service messages and of marketing.
  var serviceCategories, marketingCategories: Rule<[String]>?
  var marketingADay: Rule<DailyCap>?
  var quietHours: Rule<QuietHours>?
  var template: Rule<TemplateDuty>?

  /// All that senders may name.
  var categories: [String] { (serviceCategories?.value ?? []) + (marketingCategories?.value ?? []) }
  /// The most seconds for which the service keeps a message.
  var longestLife: Int64 { life.value.upperBound }

  /// A title that is as long as it may be.
  func fit(title other: String) -> String { title?.value.fit(other) ?? other }
  /// A text that is as long as it may be.
  func fit(text other: String) -> String { text?.value.fit(other) ?? other }
  /// Whether what the app gets and the address are as small as they may be.
  func allows(data size: Int, address length: Int = 0) -> Bool {
    size <= data?.value ?? .max && length <= address?.value ?? .max
  }
}

extension MakerRules.Rule {
  /// A note for the sender, with the source.
  func note(_ english: String, _ chinese: String, _ values: String...) -> ChannelPreview.Note {
    let text = Phrase(english, chinese).with(each: values.map { Phrase(verbatim: $0) })
    return ChannelPreview.Note(text, source: "\(page), \(date)")
  }
}

extension MakerRules {
  /// What applies to a push of a class that lives for so long.
  func notes(
    on messageClass: ChannelPreview.MessageClass?, secondsToLive seconds: Int64
  ) -> [ChannelPreview.Note] {
    let isMarketing = messageClass == .marketing
    var notes: [ChannelPreview.Note] = []
    let most = isMarketing ? marketingLife?.value ?? life.value.upperBound : life.value.upperBound
    if seconds > most {
      let (text, hours) = (("kept for {} hours at most", "最长保留 {} 小时"), String(most / 3600))
      notes.append(
        isMarketing
          ? marketingLife?.note(text.0, text.1, hours) ?? life.note(text.0, text.1, hours)
          : life.note(text.0, text.1, hours))
    } else if seconds < life.value.lowerBound {
      notes.append(
        life.note(
          "kept for less than {} minutes: only for devices that are online", "保留不足 {} 分钟：仅发送给在线设备",
          String(life.value.lowerBound / 60)))
    }
    if isMarketing, let marketingADay {
      let cap = marketingADay.value
      let (others, news) = (String(cap.others), String(cap.news))
      notes.append(
        cap.withoutChannel.map {
          marketingADay.note(
            "a device shows {} a day, {} of a news app, {} without channel_id",
            "单设备每日最多 {} 条，新闻类应用 {} 条，未填写 channel_id 时 {} 条", others, news, String($0))
        }
          ?? marketingADay.note(
            "a device shows {} a day, {} of a news app", "单设备每日最多 {} 条，新闻类应用 {} 条", others, news))
    }
    if let quietHours, isMarketing || quietHours.value.isForAll {
      notes.append(
        quietHours.note(
          "may not be shown from {} to {} o'clock", "{} 点至 {} 点可能不展示", String(quietHours.value.from),
          String(quietHours.value.to)))
    }
    return notes
  }
}
