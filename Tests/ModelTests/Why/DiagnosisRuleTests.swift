import BorealisBase
import Channels
import Foundation
import Model
import Testing

extension DiagnosisTests {
  static let all: [WhyCase] = devices + audiences + senders + apples + channels + connections + afterwards

  /// All that APNs and the server have to say.
  static let causes = WhyCause.general + WhyCause.ofAPNs
  static let remedies = WhyRemedy.general + WhyRemedy.ofAPNs
  static let points = WhyPoint.beforeChannels + [.apple, .channel] + WhyPoint.afterChannels

  @Test(arguments: all)
  func `Each cause is found in its step`(line: WhyCase) throws {
    let diagnosis = Diagnosis(line.facts)
    let step = try #require(diagnosis.step(line.point))
    #expect(step.verdict == line.verdict)
    #expect(step.cause == line.cause)
    #expect(step.detail == line.detail)
    #expect(diagnosis.conclusion == line.conclusion)
    if line.isFirst { #expect(diagnosis.firstFailure == step) }
    if line.verdict != .failed { #expect(diagnosis.firstFailure != step) }
  }

  /// Nothing goes on by itself while the credential is paused: the step of the credential says what to do.
  @Test func `Nobody is asked to wait for a channel whose credential is paused`() throws {
    var facts = Self.facts(.ios) {
      $0.own = .waiting
      $0.way?.credential = .stopped(reason: "by Ada", since: Self.before)
      $0.fallback = WhyFacts.Fallback(.apns, at: Self.end, isDone: false)
    }
    let planned = try #require(Diagnosis(facts).step(.connection))
    #expect(planned.verdict == .waiting && planned.cause == .notInForeground)
    facts.own = .handedOver
    facts.way?.state = .waiting
    let diagnosis = Diagnosis(facts)
    #expect(diagnosis.conclusion == .waiting && diagnosis.firstFailure?.cause == .credentialStopped)
    let apple = try #require(diagnosis.step(.apple))
    #expect(apple.verdict == .waiting && apple.cause == nil)
  }

  @Test func `Every cause has a case`() {
    #expect(Set(Self.all.map(\.cause)) == Set(Self.causes))
  }

  /// Whatever is combined: one step for each point in their order, a failure has a cause, what has arrived
  /// has no failure before its arrival, and nothing that is not applicable says anything.
  @Test func `Rules hold for all combinations`() {
    for line in Self.all {
      for other in Self.all {
        var facts = line.facts
        (facts.own, facts.callback) = (other.facts.own, other.facts.callback)
        facts.way?.state = other.facts.way?.state ?? .notMeant
        facts.way?.rest = other.facts.way?.rest
        facts.way?.unreachable = other.facts.way?.unreachable
        facts.way?.credential = other.facts.way?.credential ?? .unknown
        (facts.push.withdrawal, facts.push.releaseAt) = (
          other.facts.push.withdrawal, other.facts.push.releaseAt
        )
        (facts.isTarget, facts.isShown) = (other.facts.isTarget, other.facts.isShown)
        let diagnosis = Diagnosis(facts)
        #expect(
          diagnosis.steps.map(\.point)
            == Self.points.filter {
              $0 != .channel || facts.way.map { $0.channel.words.point == .channel } == true
            })
        let failures = diagnosis.steps.filter { $0.verdict == .failed }
        #expect(failures.allSatisfy { $0.cause != nil })
        #expect(diagnosis.steps.allSatisfy { $0.verdict != .notApplicable || $0.cause == nil })
        if diagnosis.step(.credential)?.verdict == .failed {
          #expect(diagnosis.steps.allSatisfy { $0.point == .release || $0.remedy != .wait }, "\(line.name)")
        }
        switch diagnosis.conclusion {
        case .arrived, .handedOver:
          #expect(diagnosis.firstFailure == nil || diagnosis.firstFailure?.point == .callback)
        case .waiting: #expect(diagnosis.steps.contains { $0.verdict == .waiting })
        case .failed: #expect(diagnosis.firstFailure == failures.first && !failures.isEmpty)
        case .unknown: #expect(failures.allSatisfy { $0.point == .callback })
        }
      }
    }
  }

  @Test func `An arrival over one way makes nothing of the other's failure`() {
    let facts = Self.facts(.ios) {
      $0.own = .acknowledged(Self.after)
      $0.way?.state = .refused("BadDeviceToken")
    }
    let diagnosis = Diagnosis(facts)
    #expect(diagnosis.conclusion == .arrived && diagnosis.firstFailure == nil)
    #expect(diagnosis.step(.apple)?.cause == .wrongEnvironment)
    #expect(diagnosis.step(.connection)?.at == Self.after)
  }

  @Test func `What had arrived before it was recalled, or its registration replaced, has arrived`() {
    let facts = Self.facts {
      $0.own = .acknowledged(nil)
      $0.push.withdrawal = WhyFacts.Withdrawal(at: Self.after, isReplaced: false)
      $0.device = nil
      $0.gone = WhyFacts.Gone(at: Self.after, successor: nil, platform: .android)
    }
    let diagnosis = Diagnosis(facts)
    #expect(diagnosis.conclusion == .arrived && diagnosis.firstFailure == nil)
  }

  @Test func `The way to Apple does not matter to other platforms, nor its token to our own strategy`() {
    let android = Diagnosis(Self.facts { $0.own = .waiting })
    #expect([.credential, .token, .apple].allSatisfy { android.step($0)?.verdict == .notApplicable })
    let own = Diagnosis(
      Self.facts(.ios) {
        $0.own = .waiting
        $0.push.strategy = .ownOnly
        $0.device?.token = .none
      })
    #expect(own.step(.token)?.verdict == .notApplicable)
  }

  /// The rule of the device's platform counts, not that of iOS.
  @Test(arguments: [
    (Platform.android, Strategy.ownSparing, false), (.android, Strategy(.jpush, ios: .ownOnly), true),
    (.android, Strategy(.ownOnly, ios: .jpush), false), (.ios, .ownSparing, true),
    (.ios, Strategy(.jpush, ios: .ownOnly), false),
  ])
  func `A vendor's channel is in question where the strategy could use it`(
    platform: Platform, strategy: Strategy, isInQuestion: Bool
  ) {
    let facts = Self.facts(platform) {
      $0.own = .waiting
      $0.push.strategy = strategy
      $0.way = WhyFacts.ChannelWay(.apns)
      $0.device?.token = .none
    }
    #expect((Diagnosis(facts).step(.token)?.verdict != .notApplicable) == isInQuestion)
  }

  @Test func `What is shown only by the app is not asked about permission`() {
    let diagnosis = Diagnosis(
      Self.facts {
        $0.own = .acknowledged(nil)
        $0.push.parts = .message
      })
    #expect(diagnosis.step(.permission)?.verdict == .notApplicable)
    #expect(diagnosis.conclusion == .arrived)
  }

  // MARK: Texts

  @Test func `Every text is there in both languages`() {
    let texts =
      Self.causes.map(\.text) + Self.points.map(\.text) + WhyVerdict.allCases.map(\.text)
      + WhyConclusion.allCases.map(\.text)
      + Self.remedies.filter { $0 != .nothing }.map(\.text)
    for text in texts {
      #expect(!text.english.isEmpty && text.english.utf8.allSatisfy { $0 < 128 }, "\(text)")
      #expect(text.chinese.unicodeScalars.contains { $0.value > 0x4e00 }, "\(text)")
    }
    #expect(Set(Self.causes.map(\.text.english)).count == Self.causes.count)
    #expect(Set(Self.causes.map(\.text.chinese)).count == Self.causes.count)
    #expect(Set(Self.remedies.map(\.text.english)).count == Self.remedies.count)
  }

  @Test func `The page lists all causes and remedies, and says of each what the program says`() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let page = tests.deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Docs/why-not-delivered.md")
    let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").map(String.init)
    let rows = lines.filter { $0.hasPrefix("| `") }
    let causes = Self.causes.map {
      "| `\($0.rawValue)` | \($0.text.english) | `\($0.remedy.rawValue)` |"
    }
    let remedies = Self.remedies.map { remedy in
      "| `\(remedy.rawValue)` | \(remedy == .nothing ? "Nothing is wrong." : remedy.text.english) |"
    }
    #expect(Set(rows) == Set(causes + remedies) && rows.count == causes.count + remedies.count)
    for point in Self.points where point != .accepted {
      #expect(lines.contains { $0.hasPrefix("### ") && $0.contains("`\(point.rawValue)`") }, "\(point)")
    }
  }

  // MARK: What a push object says of an audience

  @Test(
    arguments: [
      (#"{"audience":"all"}"#, .all), (#"{"audience":"some"}"#, nil),
      (#"{"audience":{"alias":["anna","用户"]}}"#, note { $0.aliases = ["anna", "用户"] }),
      (
        #"{"audience":{"tag":["a"],"tag_and":["b","c"],"tag_not":["d"],"registration_id":["x"]},"options":{"test_model":true}}"#,
        .testDevices(
          of: note {
            ($0.tags, $0.tagsAnd, $0.tagsNot, $0.registrationIDs) = (["a"], ["b", "c"], ["d"], ["x"])
          })
      ),
      (#"{"audience":{"file":{"file_id":"7"}}}"#, .file("7")),
      (#"{"audience":{"live_activity_id":"game"}}"#, note { $0.liveActivityID = "game" }),
      (#"{"audience":{"tag":"a","alias":[7]}}"#, nil), (#"{"platform":"all"}"#, nil), ("[]", nil),
      ("{", nil),
    ] as [(String, Audience?)])
  func `An audience is read from a push object`(object: String, audience: Audience?) {
    #expect(Audience(recorded: Array(object.utf8)) == audience)
  }
}
