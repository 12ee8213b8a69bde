import BorealisNet
import Testing

@Suite struct MailboxTests {
  @Test func `A full box refuses what is offered and says so, but takes what is posted`() throws {
    let box = Mailbox<Int>(of: try LoopHandle(index: 0), capacity: 3)
    for number in 0..<5 { box.offer(number) }
    box.post(9)
    var taken = box.drainReportingRefusal()
    #expect(taken.messages == [0, 1, 2, 9] && taken.hasRefused)
    box.offer(5)
    taken = box.drainReportingRefusal()
    #expect(taken.messages == [5] && !taken.hasRefused)
    #expect(box.drain().isEmpty)
  }
}
