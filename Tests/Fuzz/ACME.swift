import BorealisBase
import BorealisCrypto
import HTTP

private let account = (try? ES256Key.generate()).flatMap { try? ACMEAccount(key: $0) }

/// Answers of a certificate authority, one in each line: the status, a space and the body. Behind the last
/// one all answers are lost.
@Sendable func fuzzACME(_ bytes: [UInt8]) {
  guard let account else { return }
  var answers = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
  var now: UInt64 = 0
  var attempt = ACMEAttempt(
    ACMEPlan(
      directory: "https://ca.example/", names: ["a.example"], email: nil, challenge: .http, account: account,
      request: []), order: bytes.count.isMultiple(of: 2) ? nil : "https://ca.example/order", now: now)
  for _ in 0..<10_000 {
    switch attempt.next(now: now) {
    case .send(let request):
      if case .post(let post) = request { check(post.url.hasPrefix("https://"), "requests go over TLS") }
      guard let line = answers.popFirst() else {
        attempt.receive(HTTPAnswer(error: "lost"), now: now)
        continue
      }
      let status = Int(String(decoding: line.prefix(3), as: UTF8.self)) ?? 0
      var answer = HTTPAnswer(status: status, body: Array(line.dropFirst(4)))
      answer.fields = ["Replay-Nonce": "nonce", "Location": "https://ca.example/place"]
      attempt.receive(answer, now: now)
    case .wait(let moment):
      check(moment > now, "a pause takes time")
      now = moment
    case .keep(let order): check(order?.hasPrefix("https://") ?? true, "an order is asked for over TLS")
    case .answer(let challenge):
      check(challenge.name == "a.example", "only what was ordered is answered for")
      check(!challenge.token.contains { "/.?%".contains($0) }, "a token is a name in a path")
    case .end(let outcome):
      check(now <= ACMEAttempt.patience, "an attempt ends in time")
      if case .failed(let failure) = outcome {
        let reason = failure.reason
        check(reason.isPlainLine && reason.utf8.count <= 2000, "a reason is a line of the log")
      }
      return
    }
  }
  check(false, "an attempt ends")
}
