import BorealisBase
import Model

/// The kind of channel that a message goes over at Xiaomi, as far as the push says: the ID of a channel does
/// not say whether the app registered it as public or as private.
enum XiaomiChannel {
  /// Xiaomi's own, for marketing.
  case ofXiaomi
  /// One that the app registered.
  case `public`, `private`, unknown

  /// Only messages over private channels have templates; the push's classification is the sender's own word.
  init(_ shown: AndroidNotification) {
    if shown.text("channel_id") == nil {
      self = .ofXiaomi
    } else if shown.text("mi_template_id") != nil || shown.classification == 1 {
      self = .private
    } else {
      self = shown.classification == 0 ? .public : .unknown
    }
  }

  /// Nil if it follows from what the app registered.
  var messageClass: ChannelPreview.MessageClass? {
    switch self {
    case .ofXiaomi, .public: .marketing
    case .private: .service
    case .unknown: nil
    }
  }

  /// What is missing, or wrong with the template's values.
  func notes(_ shown: AndroidNotification) -> [ChannelPreview.Note] {
    guard let template = MakerRules.xiaomi.template else { return [] }
    switch self {
    case .ofXiaomi where shown.classification == 1 || shown.text("mi_template_id") != nil:
      return [template.note("a private message needs channel_id", "私信消息须填写 channel_id")]
    case .private where shown.text("mi_template_id") == nil:
      return [template.note("a private message needs mi_template_id", "私信消息须填写 mi_template_id")]
    case .unknown:
      return [
        template.note(
          "no mi_template_id: if the channel is private, the message needs one",
          "未填写 mi_template_id：若该通道为私信，则须填写")
      ]
    case .private: return template.faults(of: shown)
    case .ofXiaomi, .public: return []
    }
  }
}

extension MakerRules.Rule<MakerRules.TemplateDuty> {
  /// What is wrong with the values of a template.
  fileprivate func faults(of shown: AndroidNotification) -> [ChannelPreview.Note] {
    let values = shown.wishes["mi_template_param"]?.object?.members ?? []
    var notes: [ChannelPreview.Note] = []
    if values.count > value.mostValues {
      notes.append(
        note(
          "mi_template_param has {} values, at most {} are allowed", "mi_template_param 有 {} 个变量，最多 {} 个",
          String(values.count), String(value.mostValues)))
    }
    for member in values.prefix(value.mostValues) {
      let text = member.value.string ?? ""
      let isFitting = value.valueLength.contains(text.utf16.count) && !text.allSatisfy(\.isWhitespace)
      let hasEmoji = text.unicodeScalars.contains { $0.properties.isEmojiPresentation }
      if isFitting, !hasEmoji { continue }
      notes.append(
        note(
          "{} in mi_template_param must have {} to {} characters, not only blanks and no emoji",
          "mi_template_param 的 {} 须为 {} 至 {} 个字符，不能全为空白，不能含 emoji", member.key,
          String(value.valueLength.lowerBound), String(value.valueLength.upperBound)))
    }
    return notes
  }
}
