import BorealisBase
import Channels
import Model

/// Apple's answers, or those of whoever sits in its place: a byte chooses the status, one what is known of
/// the attempt, the rest is the body.
@Sendable func fuzzAPNsAnswers(_ bytes: [UInt8]) {
  guard bytes.count >= 2 else { return }
  let statuses = [200, 400, 401, 403, 404, 405, 410, 413, 429, 500, 502, 503, 0, -1, 99, 600]
  let answer = APNsAnswer(status: statuses[Int(bytes[0] & 15)], body: Array(bytes.dropFirst(2)))
  check((answer.reason?.count ?? 0) <= 64, "a reason is short enough for the log")
  let flags = bytes[1]
  let attempt = APNsAttempt(
    sentAt: Timestamp(milliseconds: 1_767_225_600_000),
    tokenRegisteredAt: Timestamp(milliseconds: flags & 1 == 0 ? 0 : .max),
    environment: flags & 2 == 0 ? .production : .sandbox, hasOtherCredential: flags & 4 != 0,
    otherHasRefused: flags & 8 != 0, hasRenewedProviderToken: flags & 16 != 0)
  switch APNsOutcome(answer, to: attempt) {
  case .delivered, .wrongEnvironment: check(answer.status == 200, "only success is success")
  case .retireToken(let since, _):
    check((400...499).contains(answer.status), "a token is retired only where it was refused")
    check(attempt.tokenRegisteredAt <= since, "a token that was registered later stays")
  case .keepToken: check((400...499).contains(answer.status), "a token is kept only where it was refused")
  case .tryOtherEnvironment(let other):
    check(attempt.hasOtherCredential && !attempt.otherHasRefused, "the other service is asked once")
    check(other != attempt.environment, "the other service is another one")
  case .newProviderToken: check(!attempt.hasRenewedProviderToken, "a provider token is renewed once")
  case .retry, .pauseCredential, .pauseTopic, .reject:
    check(answer.status != 200, "success is not tried again")
  }
}
