import BorealisBase
import HTTP
import Model

extension FCM {
  /// Reads Google's answer to an assertion.
  package func readToken(_ answer: HTTPAnswer) -> AccessAnswer {
    let body = (try? parseJSON(answer.body))?.object
    switch answer.status {
    case 200:
      guard let token = body?["access_token"]?.string, (1...4096).contains(token.utf8.count),
        token.isVisibleASCII, let seconds = body?["expires_in"]?.int64, (1...86_400).contains(seconds)
      else { return .later("Google's answer has no token of access", seconds: nil) }
      return .token(token, seconds: seconds)
    case 400, 401, 403:
      // Else somebody else than Google answers.
      guard body?["error"]?.string != nil else {
        return .later("Google's token service answered \(answer.status)", seconds: answer.retryAfter)
      }
      let texts = ["error", "error_description"].compactMap { body?[$0]?.string }.map(VendorText.line)
      let text = texts.isEmpty ? "without a reason" : texts.joined(separator: ": ")
      // Of assertions that seem to be of another time.
      if text.contains("iat and exp") || text.contains("reasonable timeframe") {
        return .later("Google answered \(answer.status) \(text): is the server's clock right?", seconds: nil)
      }
      return .refused("Google refused the key: \(answer.status) \(text)")
    default: return .later("Google's token service answered \(answer.status)", seconds: answer.retryAfter)
    }
  }

  /// Reads FCM's answer to a message.
  package func interpret(_ answer: HTTPAnswer) -> VendorOutcome {
    if (200..<300).contains(answer.status) { return .accepted }
    let error = FCMError(answer.body)
    switch error.code {
    case "UNREGISTERED": return .dropDeadToken("UNREGISTERED")
    case "SENDER_ID_MISMATCH": return .dropForeignToken("SENDER_ID_MISMATCH")
    // The channel serves Android alone: who needs a credential of Apple's or a browser's is of another app.
    case "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR": return .dropForeignToken("THIRD_PARTY_AUTH_ERROR")
    default: break
    }
    let text = VendorText.line("FCM answered \(answer.status) \(error.status ?? "") \(error.message ?? "")")
    switch answer.status {
    case 400:
      return error.blamesToken ? .suspectToken("INVALID_ARGUMENT") : .rejectContent("INVALID_ARGUMENT")
    case 401, 403, 404:
      guard error.status != nil else { return .foreign(answer, text) }
      return answer.status == 401 ? .refreshAuthOnce(text) : .pauseAndAlertOperator(text)
    case 429:
      return .retryAfter(
        RetrySchedule(firstSeconds: 60), seconds: answer.retryAfter,
        rests: answer.retryAfter != nil && !error.isAboutDevice, text)
    case 503:
      return .retryAfter(RetrySchedule(firstSeconds: 10), seconds: answer.retryAfter, rests: true, text)
    case 408, 500...: return .retryAfter(RetrySchedule(firstSeconds: 10), seconds: nil, rests: false, text)
    case 300..<400: return .retryAfter(RetrySchedule(firstSeconds: 60), seconds: nil, rests: true, text)
    default: return .rejectContent("Status\(answer.status)")
    }
  }

  /// What FCM's words mean.
  package func meaning(of reason: String) -> Phrase? {
    switch reason {
    case "UNREGISTERED":
      Phrase("The app was removed from the device, or its token has expired.", "应用已被卸载，或 Token 已失效。")
    case "SENDER_ID_MISMATCH", "THIRD_PARTY_AUTH_ERROR":
      Phrase("The token belongs to another Firebase project or app.", "Token 属于其他 Firebase 项目或应用。")
    case "INVALID_ARGUMENT": Phrase("FCM rejected the token or the content.", "FCM 拒绝了该 Token 或通知内容。")
    case "MessageTooBig":
      Phrase("The notification exceeds FCM's limit of 4096 bytes.", "通知超出 FCM 的 4096 字节限制。")
    default: nil
    }
  }
}

/// The error in an answer of FCM.
private struct FCMError {
  /// FCM's own code, if the answer has one.
  let code: String?
  /// Google's general word for it, and a sentence.
  let status, message: String?
  /// Whether it is about the token: FCM says so with a code of its own, or names the field.
  let blamesToken: Bool
  /// Whether a limit is that of one device, which gets too much.
  let isAboutDevice: Bool

  init(_ body: [UInt8]) {
    let error = (try? parseJSON(body))?.object?["error"]?.object
    let details = error?["details"]?.array?.compactMap(\.object) ?? []
    func find(_ type: String) -> JSONObject? {
      details.first { $0["@type"]?.string?.hasSuffix(type) == true }
    }
    code = find("google.firebase.fcm.v1.FcmError")?["errorCode"]?.string
    status = error?["status"]?.string
    message = error?["message"]?.string
    let violations = find("google.rpc.QuotaFailure")?["violations"]?.array?.compactMap(\.object) ?? []
    let texts = violations.flatMap { [$0["subject"]?.string, $0["description"]?.string] } + [message]
    isAboutDevice = texts.contains { $0?.lowercased().contains("device") == true }
    let fields = find("google.rpc.BadRequest")?["fieldViolations"]?.array?.compactMap {
      $0.object?["field"]?.string
    }
    blamesToken =
      fields.map { fields in fields.contains { ["message.token", "message.fid"].contains($0) } }
      ?? (code == "INVALID_ARGUMENT")
  }
}

extension ChannelWords {
  static let fcm = ChannelWords(reasons: [
    "UNREGISTERED": ChannelReason(.channelTokenGone, .token),
    "SENDER_ID_MISMATCH": ChannelReason(.channelTokenForeign, .token),
    "THIRD_PARTY_AUTH_ERROR": ChannelReason(.channelTokenForeign, .token),
    "MessageTooBig": ChannelReason(.channelTooLarge, .size),
  ])
}
