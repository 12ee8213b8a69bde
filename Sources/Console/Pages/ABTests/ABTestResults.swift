import BorealisBase
import Core
import Model
import Storage

/// How the contents of an A/B test have done, by run.
struct ABTestResults {
  let call: PageCall
  /// Where the app's pushes are.
  let path: String

  /// The newest run, which may be under way, and those before it.
  func html(_ runs: [ABTestRun]) -> HTML {
    guard let latest = runs.first else { return .none }
    let earlier = runs.dropFirst()
    let others: HTML =
      earlier.isEmpty
      ? .none
      : """
      <section class="card"><details><summary>\(call(Words.abTestEarlierRuns))</summary>
      \(Array(earlier), { run($0) })
      </details></section>
      """
    return """
      <section class="card">\(run(latest))<p class="quiet">\(call(Words.confidenceText))</p></section>
      \(others)
      """
  }

  private func run(_ run: ABTestRun) -> HTML {
    let (phrase, mark) = ABTestWords.state(run.end?.state ?? .running)
    let rest = call(Words.abTestRest.with(each: Counted.devices(run.rest)))
    let time: HTML =
      run.end.map { "\(call.moment(run.startedAt)) – \(call.moment($0.at))" }
      ?? "\(call.moment(run.startedAt)) – <span title=\"\(call(Words.abTestNextLook))\">\(run.lookAt, { call.moment($0) })</span>"
    let winner: HTML =
      run.winnerPush.map {
        " <a href=\"\(path)/\($0.text)\">\(call(Words.result))</a>"
      } ?? .none
    return """
      <p>\(call.state(mark, phrase))\(winner) <span class="quiet">\(time)\(if: run.end == nil, " · \(rest)")</span></p>
      \(run.end?.message, { "<p class=\"notice bad\">\($0)</p>" })
      <table><thead><tr><th>\(call(Words.content))</th><th>\(call(Words.targets))</th><th>\(call(Words.delivered))</th><th>\(call(Words.shown))</th>
      <th>\(call(Words.tapped))</th><th>\(call(Words.tapRate))</th><th>\(call(Words.confidenceColumn))</th></tr></thead><tbody>
      \(Array(zip(run.pushes, run.figures).enumerated()), { row(run, $0, $1.0, $1.1) })
      </tbody></table>
      """
  }

  private func row(
    _ run: ABTestRun, _ place: Int, _ push: ABTestRunRow.Push, _ figures: ABTestFigures
  ) -> HTML {
    let won: HTML = run.end?.winner == push.place ? " \(call.state(.done, Words.abTestWon))" : .none
    let out: HTML = figures.isOut ? " \(call.state(.over, Words.stateRecalled))" : .none
    let confidence = ABTestVerdict.confidence(run.figures, at: place).map { ABTestWords.percent($0) } ?? "–"
    var decided: HTML = .none
    if let delivered = push.delivered, let tapped = push.tapped {
      let text = Words.abTestDecidedOn.with(Counted.grouped(tapped), Counted.grouped(delivered))
      decided = " <span class=\"quiet\">\(call(text))</span>"
    }
    return """
      <tr><td><a href="\(path)/\(push.id.text)">\(ABTestWords.letter(place))</a>\(won)\(out)</td>
      <td>\(Counted.grouped(figures.targets))</td><td>\(Counted.grouped(figures.delivered))</td>
      <td>\(Counted.grouped(figures.shown))</td><td>\(Counted.grouped(figures.tapped))\(decided)</td>
      <td>\(ABTestWords.percent(figures.rate))</td><td>\(confidence)</td></tr>

      """
  }
}
