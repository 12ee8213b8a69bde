import BorealisBase
import Core
import Model
import Storage

/// The timeline of a push, from stored data: a push to several has no time for each target, only that of the
/// last one.
struct PushTimeline: Sendable {
  let call: PageCall
  let report: PushReport
  /// The server's channels.
  let channels: PluggedChannels

  private struct Step: Sendable {
    let name: Phrase
    var detail = ""
    /// When, if that is stored.
    var at: Timestamp?
    /// Whether it is still to come.
    var isAhead = false
  }

  var html: HTML {
    """
    <h3 class="visually-hidden">\(call(Words.timeline))</h3>
    <ol class="way">\(steps, { item($0) })</ol>\(note)
    """
  }

  /// Whose word the time of the delivery is.
  private var note: HTML {
    guard report.status == .delivered, !Trace.isOpen(report), !report.targets.acknowledged.isEmpty else {
      return .none
    }
    return "<p class=\"hint\">\(call(Words.deliveredWhen))</p>"
  }

  private var steps: [Step] {
    let targets = report.targets
    var steps = [
      Step(name: Words.created, at: report.createdAt),
      Step(name: Words.resolvedTo.with(each: Counted.devices(targets.all.count))),
      handedOver,
    ]
    steps += report.fallbacks.filter { $0.handedOver > 0 }.map {
      Step(
        name: Words.notInTime,
        detail: call(Words.handedOver(channels.info($0.channel), Counted.grouped($0.handedOver))) + " ",
        at: $0.at)
    }
    steps += targets.goneOn.map {
      Step(
        name: Words.tokenGone,
        detail: call(Words.handedOver(channels.info($0.channel), Counted.grouped($0.count))) + " ")
    }
    if report.status == .delivered, !Trace.isOpen(report) {
      steps.append(Step(name: lastDelivery, at: report.endedAt))
    }
    if let at = report.shownAt { steps.append(Step(name: Words.shown, at: at)) }
    if let at = report.tappedAt { steps.append(Step(name: Words.tapped, at: at)) }
    if let withdrawal = report.withdrawal {
      let name = withdrawal.status == .recalled ? Words.sumRecalled : Words.replaced
      steps.append(Step(name: name, at: withdrawal.at))
    } else if Trace.isOpen(report) {
      steps += report.fallbacks.filter { $0.waiting > 0 }.map {
        Step(
          name: Words.waitsFor,
          detail: call(Words.then(channels.info($0.channel), Counted.grouped($0.waiting))) + " ", at: $0.at,
          isAhead: true)
      }
      let waiting = Counted.grouped(targets.pending.count)
      steps.append(Step(name: Words.stillWaiting.with(waiting), at: report.expiresAt, isAhead: true))
    } else if !targets.expired.isEmpty {
      steps.append(Step(name: Words.sumExpired, at: report.expiresAt))
    }
    return steps
  }

  /// What ended the push: for the target that has it, or the last that got it.
  private var lastDelivery: Phrase {
    let isAccepted = !report.targets.onlyAccepted.isEmpty
    if report.targets.all.count == 1 { return isAccepted ? Words.channelAccepted : Words.delivered }
    return isAccepted ? Words.lastDeliveredOrAccepted : Words.lastDelivered
  }

  /// To how many it was handed, by which way.
  private var handedOver: Step {
    let counts = report.funnels.map { ($0.channel, $0.funnel.sent.count) }.filter { $0.1 > 0 }
    guard !counts.isEmpty else {
      return Step(name: Words.handedOver, detail: call(Words.viaNobody), isAhead: Trace.isOpen(report))
    }
    let words = counts.map { call(Words.via(channels.info($0.0), Counted.grouped($0.1))) }
    return Step(name: Words.handedOver, detail: words.joined(separator: call(Words.comma)))
  }

  private func item(_ step: Step) -> HTML {
    """
    <li\(if: step.isAhead, " class=\"ahead\"")><strong>\(call(step.name))</strong> \
    <span class="quiet">\(step.detail)\(step.at, { time($0) })</span></li>

    """
  }

  /// Soon after the start how long it took says more than the hour.
  private func time(_ at: Timestamp) -> HTML {
    let milliseconds = at.milliseconds - report.createdAt.milliseconds
    switch milliseconds {
    case 1..<1000: return "+\(milliseconds) ms"
    case 1000..<60_000: return "+\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
    default: return call.moment(at)
    }
  }
}
