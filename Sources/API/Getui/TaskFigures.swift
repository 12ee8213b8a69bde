import BorealisBase
import Core
import Model

/// The figures of a task's report, counted from the stored outcome of each target.
struct TaskFigures: Sendable {
  /// The number of devices at each step, on one channel or on all.
  struct Steps: Sendable {
    var target = 0, received = 0, shown = 0, tapped = 0

    init() {}

    init(_ funnel: PushFunnel) {
      (target, received) = (funnel.sent.count, funnel.received.count)
      (shown, tapped) = (funnel.shown.count, funnel.tapped.count)
    }

    mutating func add(_ other: Steps) {
      target += other.target
      received += other.received
      shown += other.shown
      tapped += other.tapped
    }

    /// Writes the members of a channel or of `total`.
    func write(to writer: inout JSONWriter) {
      writer.member("target_num", target)
      writer.member("receive_num", received)
      writer.member("display_num", shown)
      writer.member("click_num", tapped)
    }
  }

  private var messages = 0
  private var total = Steps()
  private var channels: [ChannelID: Steps] = [:]
  private var losses: [Loss: Int] = [:]

  init() {}

  init(_ report: PushReport) {
    messages = report.audience
    var all = PushFunnel()
    for (channel, funnel) in report.funnels {
      channels[channel] = Steps(funnel)
      all = all.union(funnel)
    }
    total = Steps(all)
    let targets = report.targets
    for (leg, outcomes) in targets.legs {
      for (reason, refused) in outcomes.refused {
        let denied = ReceiptReason(rawValue: reason).flatMap { outcomes.denied[$0]?.count } ?? 0
        count(.denied(reason, leg.channel), denied)
        count(.refused(reason, leg.channel), refused.count - denied)
      }
    }
    for (reason, lost) in targets.lost { count(.lost(reason), lost.count) }
    count(.lost(.noChannel), targets.failed[LossReason.noChannel.rawValue]?.count ?? 0)
    count(.offline, targets.expired.intersection(targets.own).count)
  }

  private mutating func count(_ loss: Loss, _ count: Int) {
    if count > 0 { losses[loss, default: 0] += count }
  }

  mutating func add(_ other: TaskFigures) {
    messages += other.messages
    total.add(other.total)
    channels.merge(other.channels) {
      var sum = $0
      sum.add($1)
      return sum
    }
    losses.merge(other.losses, uniquingKeysWith: +)
  }

  /// Writes the report of a task.
  func write(
    to writer: inout JSONWriter, withLosses: Bool = false, _ channels: PluggedChannels
  ) {
    writer.beginObject()
    writer.key("total")
    writer.beginObject()
    writer.member("msg_num", messages)
    total.write(to: &writer)
    writer.endObject()
    for (channel, steps) in self.channels.sorted(by: { $0.key < $1.key }) {
      writer.key(channels.getuiName(channel))
      writer.beginObject()
      steps.write(to: &writer)
      writer.endObject()
    }
    if withLosses { writeLosses(to: &writer, channels) }
    writer.endObject()
  }

  /// Writes `failed_detail`: by stage, channel and class, the counts of the sub-codes with their total.
  private func writeLosses(to writer: inout JSONWriter, _ channels: PluggedChannels) {
    var tree: [Loss.Stage: [String: [Int: [Int: Int]]]] = [:]
    for (loss, count) in losses {
      let channel = channels.getuiName(loss.channel, ofLosses: true)
      let code = loss.code(channels.info(loss.channel).words)
      tree[loss.stage, default: [:]][channel, default: [:]][code / 1000, default: [:]][code, default: 0] +=
        count
    }
    writer.key("failed_detail")
    writer.beginObject()
    for stage in Loss.Stage.allCases {
      writer.key(stage.rawValue)
      writer.beginObject()
      for (channel, classes) in (tree[stage] ?? [:]).sorted(by: { $0.key < $1.key }) {
        writer.key(channel)
        writer.beginObject()
        for (kind, codes) in classes.sorted(by: { $0.key < $1.key }) {
          writer.key(String(kind))
          writer.beginObject()
          for (code, count) in codes.sorted(by: { $0.key < $1.key }) { writer.member(String(code), count) }
          writer.member("total", codes.values.reduce(0, +))
          writer.endObject()
        }
        writer.endObject()
      }
      writer.endObject()
    }
    writer.endObject()
  }
}

/// Why a message did not arrive, in Getui's classes.
private enum Loss: Hashable, Sendable {
  /// The channel's service refused it, or the server did before it asked the service.
  case refused(String, ChannelID)
  /// The channel's service took it, and said later that it did not arrive.
  case denied(String, ChannelID)
  /// The direct connection lost it.
  case lost(LossReason)
  /// The device was offline for its whole time to live.
  case offline

  /// The two steps between which the message was lost.
  enum Stage: String, CaseIterable {
    /// Requested and deliverable.
    case deliverable = "ts"
    /// Deliverable and sent.
    case sent = "rs"
    /// Sent and arrived.
    case arrived = "sf"
    /// Arrived and shown. The server never knows the reason.
    case shown = "fd"
  }

  var channel: ChannelID {
    switch self {
    case .refused(_, let channel), .denied(_, let channel): channel
    case .lost, .offline: .passthrough
    }
  }

  var stage: Stage {
    switch self {
    case .refused("NoToken", _), .refused("NoCredential", _), .lost(.noChannel): .deliverable
    case .refused: .sent
    case .denied, .lost, .offline: .arrived
    }
  }

  /// The sub-code: the class times 1000 plus a number, 999 where Getui publishes none.
  func code(_ words: ChannelWords) -> Int {
    switch self {
    case .offline: 12_999
    case .lost(.replaced): 5999
    case .lost(.noChannel): 8001
    case .lost: 14_001
    case .refused("NoToken", _), .refused("NoCredential", _): 8001
    case .refused(let reason, _), .denied(let reason, _):
      switch words.meaning(of: reason).fault {
      case .token: 5999
      case .credential: 3999
      case .overload: 6999
      case .size: 7006
      case .notificationsOff: 10_999
      case .device, .other: 14_001
      }
    }
  }
}

extension PluggedChannels {
  /// What Getui's reports call a channel: their names are a part of its API, and those of losses differ.
  /// Other channels have the names that they have everywhere.
  func getuiName(_ channel: ChannelID, ofLosses: Bool = false) -> String {
    switch channel {
    case .passthrough: "gt"
    case .apns: ofLosses ? "apn" : "ios"
    default: info(channel).name
    }
  }
}
