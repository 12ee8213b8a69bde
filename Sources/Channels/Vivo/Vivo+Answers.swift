import BorealisBase
import Core
import HTTP
import Model

extension Vivo {
  /// Reads the token of access.
  package func readToken(_ answer: HTTPAnswer) -> AccessAnswer {
    let reply = Self.reply(answer)
    switch Self.outcome(reply, answer) {
    case .accepted:
      guard let token = reply.body?["authToken"]?.string, (1...4096).contains(token.utf8.count),
        token.isVisibleASCII
      else { return .later("vivo's answer has no token of access", seconds: nil) }
      return .token(token, seconds: Self.accessLife)
    case .retryAfter(_, let seconds, _, let text): return .later(text, seconds: seconds)
    default: return .refused("vivo refused the credential: \(reply.text)")
    }
  }

  /// Reads the number of a list, for which devices are named then.
  package func prepared(
    _ answer: HTTPAnswer, _ content: VivoContent, with credential: VendorFields
  ) -> VendorOutcome {
    let reply = Self.reply(answer)
    let outcome = Self.outcome(reply, answer)
    guard outcome == .accepted else { return outcome }
    let task = reply.body?["taskId"]
    guard let id = task?.string ?? task?.int64.map({ String($0) }), !id.isEmpty else {
      return .busy(answer, rests: true, "vivo's answer has no number of a list")
    }
    content.set(id, for: credential)
    return .accepted
  }

  /// Reads vivo's answer.
  package func interpret(_ answer: HTTPAnswer) -> VendorOutcome { Self.outcome(Self.reply(answer), answer) }

  /// What vivo says of the devices that it cannot reach.
  package func interpret(_ answer: HTTPAnswer, for tokens: [[UInt8]]) -> VendorAnswer {
    let reply = Self.reply(answer)
    var outcome = Self.outcome(reply, answer)
    if case .dropToken(let reason) = outcome, tokens.count > 1 { outcome = .rejectContent(reason) }
    var exceptions: [[UInt8]: VendorOutcome] = [:]
    for user in (reply.body?["invalidUsers"]?.array ?? []) + [reply.body?["invalidUser"] ?? .null] {
      guard let token = user["userid"]?.string, let status = VendorReply.number(user["status"]) else {
        continue
      }
      // 1 is unknown. 2 (removed, or notifications are off), 3 (not online for months) and 4 (no test device)
      // may change.
      let reason = "InvalidUser\(status)"
      exceptions[Array(token.utf8)] = status == 1 ? .dropToken(reason) : .rejectContent(reason)
    }
    return VendorAnswer(outcome, exceptions: exceptions)
  }

  private static func reply(_ answer: HTTPAnswer) -> VendorReply {
    VendorReply(answer, of: "vivo", code: "result", texts: ["desc"])
  }

  private static func outcome(_ reply: VendorReply, _ answer: HTTPAnswer) -> VendorOutcome {
    let text = reply.text
    switch reply.code {
    case 0 where answer.status == 200: return .accepted
    case 10_000: return .refreshAuthOnce(text)
    // All messages of the day: vivo lowers the quota of those who go on.
    case 10_070: return .stopUntilQuotaReset(text)
    // The lists of the day: single devices still get theirs.
    case 10_252: return .sendSinglyUntilQuotaReset(text)
    // A list that vivo does not know.
    case 10_256: return .prepareAgain(text)
    // Marketing at night.
    case 10_071:
      return .retryAfter(RetrySchedule(firstSeconds: 600), seconds: nil, rests: false, text)
    case 10_072:
      return .retryAfter(RetrySchedule(firstSeconds: 10), seconds: answer.retryAfter ?? 1, rests: true, text)
    // Tokens of access were asked for too often.
    case 10_093, 10_250: return .busy(answer, rests: true, text)
    // App ID, key, signature, timestamp.
    case 10_094: return .pauseAndAlertOperator(text)
    case let code? where (10_200...10_206).contains(code): return .pauseAndAlertOperator(text)
    // The timestamp is too far from vivo's.
    case 10_207: return .wrongClock(text)
    case 10_302: return .dropToken("10302")
    // vivo has the request already.
    case 10_303: return .accepted
    // Content, messages to all, parameters.
    case let code?
    where [10_045, 10_073, 10_150, 10_151, 10_254].contains(code) || (10_054...10_069).contains(code)
      || (10_089...10_092).contains(code):
      return .rejectContent(String(code))
    // A push with a code that is not listed waits, and the operator sees the code.
    default: return .ofStatus(answer, text, isOwn: reply.code != nil, unauthorized: .refreshAuthOnce(text))
    }
  }

  /// What vivo's words mean.
  package func meaning(of reason: String) -> Phrase? {
    switch reason {
    case "10302", "InvalidUser1": Phrase("vivo does not know the token.", "vivo 返回 RegId 无效。")
    case "InvalidUser2": WhyCause.removedOrNotificationsOff.text
    case "InvalidUser3":
      Phrase("The device has not been online for months.", "设备已数月未联网。")
    case "InvalidUser4":
      Phrase(
        "Test pushes (push_mode 1) only reach the test devices that vivo knows.",
        "测试推送（push_mode 为 1）只能发给在 vivo 登记的测试设备。")
    case "10045", "10073": Phrase("vivo refuses the text.", "vivo 拒绝了文本内容。")
    case _ where reason.utf8.count == 5 && reason.hasPrefix("10"):
      Phrase("vivo rejected a field of the notification.", "vivo 拒绝了通知中的某个字段。")
    default: nil
    }
  }
}

extension ChannelWords {
  static let vivo = ChannelWords(reasons: [
    "10302": ChannelReason(.channelTokenGone, .token),
    "InvalidUser1": ChannelReason(.channelTokenGone, .token),
    "InvalidUser2": ChannelReason(.removedOrNotificationsOff, .device),
    "InvalidUser3": ChannelReason(.channelRefused, .device),
    "InvalidUser4": ChannelReason(.channelRefused, .device),
    "MessageTooBig": ChannelReason(.channelTooLarge, .size),
  ])
}
