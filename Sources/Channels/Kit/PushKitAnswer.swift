import BorealisBase
import HTTP
import Model

/// An answer of Push Kit, which has the same form for Android and for HarmonyOS.
struct PushKitAnswer {
  private let answer: HTTPAnswer
  private let body: JSONObject?
  /// The code; empty if the answer has none.
  let code: String
  /// One line for people.
  let text: String

  /// Reads an answer of a service that people know by a name.
  init(_ answer: HTTPAnswer, from name: String = "Push Kit") {
    self.answer = answer
    body = (try? parseJSON(answer.body))?.object
    code = body?["code"]?.string ?? body?["code"]?.int64.map { String($0) } ?? ""
    text = VendorText.line("\(name) answered \(answer.status) \(code) \(body?["msg"]?.string ?? "")")
  }

  /// What is said of single tokens: the text is JSON then.
  var details: JSONObject? { body?["msg"]?.string.flatMap { (try? parseJSON(Array($0.utf8)))?.object } }

  /// The outcome for all tokens.
  var outcome: VendorOutcome {
    switch code {
    case "80000000", "80100000": return .accepted
    case "80200001", "80200003": return .refreshAuthOnce(text)
    case "80300002", "80300037": return .pauseAndAlertOperator(text)
    case "80000001", "81000001":
      return .busy(answer, rests: false, text)
    // Parameters, structure, time to live, collapse key, words, size, number of tokens, and groups.
    case _ where ["801", "803", "820"].contains(code.prefix(3)) && answer.status < 500:
      return .rejectContent(code)
    default: break
    }
    return .ofStatus(answer, text, isOwn: !code.isEmpty, unauthorized: .refreshAuthOnce(text))
  }

  /// Whether a recall has got its answer: what Push Kit refuses it refuses again.
  var endsRecall: Bool { outcome.isFinal }
}
