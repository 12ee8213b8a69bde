import BorealisBase
import BorealisCrypto
import Testing

@testable import Core

@Suite struct RetryTests {
  private struct Fixed: RandomNumberGenerator {
    let value: UInt64
    mutating func next() -> UInt64 { value }
  }

  @Test func delaysDoubleUpToAnHourAndEndAfterADay() throws {
    var random = SystemRandomNumberGenerator()
    let end = Timestamp(milliseconds: 86_400_000)
    var most: Int64 = 10_000
    for failures in 1...40 {
      let next = try #require(
        CallbackRetries.next(
          afterFailures: failures, now: Timestamp(milliseconds: 0), end: end, using: &random))
      #expect((most / 2...most).contains(next.milliseconds), "\(failures)")
      most = min(most * 2, 3_600_000)
    }
    let last = CallbackRetries.next(
      afterFailures: 40, now: Timestamp(milliseconds: 86_400_000 - 1_800_000), end: end, using: &random)
    #expect(last == nil)
  }

  @Test func delaysDiffer() {
    var (low, high) = (Fixed(value: 1 << 32), Fixed(value: .max))
    let end = Timestamp(milliseconds: .max)
    let start = Timestamp(milliseconds: 0)
    let first = CallbackRetries.next(afterFailures: 1, now: start, end: end, using: &low)
    let second = CallbackRetries.next(afterFailures: 1, now: start, end: end, using: &high)
    #expect(first == Timestamp(milliseconds: 5000) && second == Timestamp(milliseconds: 10_000))
  }

  /// The digest was made with Python's hmac module.
  @Test func theSignatureIsWhatThePageSays() {
    let body = Array(#"[{"event_id":"1"}]"#.utf8)
    let signature = CallbackSecret.signature(body, at: 1_700_000_000, with: [Array("whsec_test".utf8)])
    #expect(signature == "v1=b9025c7126ed07e927c85944ab85b9689c3fbcfb0c78da3db30e9d8e1ae58202")
    let both = CallbackSecret.signature(body, at: 1, with: [[1], [2]])
    #expect(both.split(separator: ",").count == 2 && both.hasPrefix("v1="))
  }

  @Test func secretsAreSealedForOneApp() throws {
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    let secret = CallbackSecret.generate()
    #expect(secret.hasPrefix("whsec_") && secret.utf8.count == 70 && secret != CallbackSecret.generate())
    let sealed = CallbackSecret.seal(secret, app: AppID(1), with: keys)
    #expect(try CallbackSecret.open(sealed, app: AppID(1), with: keys) == Array(secret.utf8))
    #expect(throws: SealError.damaged) { try CallbackSecret.open(sealed, app: AppID(2), with: keys) }
  }
}
