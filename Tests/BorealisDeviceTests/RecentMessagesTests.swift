import BorealisBase
import BorealisDevice
import Testing

@Suite struct RecentMessagesTests {
  @Test(arguments: [1, 2, 7, 100])
  func forgetsTheOldestOnly(capacity: Int) {
    var recent = RecentMessages(capacity: capacity)
    for number in 1...350 as ClosedRange<UInt64> {
      let isNew = recent.insert(MessageID(number))
      let isNewAgain = recent.insert(MessageID(number))
      #expect(isNew && !isNewAgain)
      let kept = max(1, number - min(number, UInt64(capacity)) + 1)...number
      #expect(recent.oldestFirst == kept.map { MessageID($0) })
      #expect(recent.contains(MessageID(kept.lowerBound)))
      #expect(!recent.contains(MessageID(kept.lowerBound - 1)))
      #expect(recent.count == kept.count)
    }
  }
}
