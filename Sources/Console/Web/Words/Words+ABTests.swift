import BorealisBase
import Model
import Storage

/// The texts about A/B tests.
extension Words {
  static let abTests = Phrase("A/B tests", "A/B 测试")
  static let abTest = Phrase("A/B test", "A/B 测试")
  static let toABTest = Phrase("A/B test {}", "A/B 测试 {}")
  static let abTestsText = Phrase(
    "Two to four contents go to a part of an audience. The one with the highest tap rate then goes to everyone else.",
    "先向部分目标人群发送 2 至 4 个内容版本，再将点击率最高的版本发送给其余设备。")
  static let noABTestsYet = Phrase("There are no A/B tests yet.", "暂无 A/B 测试。")
  static let newABTest = Phrase("New A/B test", "新建 A/B 测试")
  static let editABTest = Phrase("Edit A/B test", "编辑 A/B 测试")
  static let sendABTest = Phrase("Send", "发送")
  static let abTestContents = Phrase("Contents", "内容版本")
  static let abTestContent = Phrase("Content {}", "版本 {}")
  static let deleteABTest = Phrase("Delete A/B test", "删除 A/B 测试")
  static let deleteABTestText = Phrase(
    "Its results are deleted too. Pushes that were sent stay in the history.", "测试结果将一并删除，已发送的推送仍保留在推送记录中。")
  static let abTestDeleted = Phrase("The A/B test was deleted.", "A/B 测试已删除。")
  static let stopABTest = Phrase("Stop", "停止")
  static let stopABTestText = Phrase(
    "No winner is sent. What devices have already got stays; recall the pushes of the contents for that.",
    "不再发送胜出版本。设备已收到的内容不受影响，如需撤回请撤回各版本的推送。")
  static let abTestStopped = Phrase("The A/B test was stopped. No winner is sent.", "A/B 测试已停止，不会发送胜出版本。")
  static let abTestOver = Phrase("The A/B test was already over.", "A/B 测试已经结束。")
  static let abTestGone = Phrase("The A/B test no longer exists.", "该 A/B 测试已不存在。")
  static let abTestNameTaken = Phrase("Another A/B test has this name.", "名称已被其他 A/B 测试使用。")
  static let tooManyABTests = Phrase(
    "The app has as many A/B tests as it may have. Delete one first.", "A/B 测试数量已达上限，请先删除一个。")
  static let abTestRuns = Phrase(
    "The A/B test is running. Stop it, or wait until it is over.", "A/B 测试正在进行，请先停止或等待结束。")
  static let abTestInUse = Phrase(
    "A scheduled push uses this A/B test: {}. Cancel or edit it first.", "有定时推送使用该 A/B 测试：{}。请先取消或修改。")

  // MARK: The form

  static let abTestTitleOf = Phrase("Title {}", "标题 {}")
  static let abTestTextOf = Phrase("Text {}", "内容 {}")
  static let abTestContentsHint = Phrase(
    "A line for each content: title and text. Leave lines empty for fewer than four.",
    "每行一个内容版本：标题和内容。不足四个版本时留空即可。")
  static let abTestShare = Phrase("Share of the audience that takes part, in percent", "参与测试的人群比例（%）")
  static let abTestMinutes = Phrase("Minutes until the winner is chosen", "多少分钟后选出胜出版本")
  static let abTestMinutesHint = Phrase("1 to 10080, which is seven days.", "1 至 10080（7 天）。")
  static let abTestEarlier = Phrase("Choose the winner earlier", "提前选出胜出版本")
  static let abTestNotEarlier = Phrase("No", "否")
  static let abTestConfidence = Phrase("With {}% confidence", "置信度达到 {}% 时")
  static let abTestEarlierHint = Phrase(
    "The figures are looked at ten times, with a two-proportion z-test that accounts for all looks and comparisons.",
    "期间共检查十次数据，采用双比例 z 检验，并已对多次检查和多重比较进行校正。")
  static let abTestNames = Phrase("Tags or aliases", "标签或别名")
  static let abTestJSON = Phrase("A/B test as JSON", "JSON 格式的 A/B 测试")
  static let abTestJSONHint = Phrase(
    "This A/B test has more to it than the form has fields for. The API documentation describes the format.",
    "该 A/B 测试超出表单可编辑的范围，格式见 API 文档。")
  static let abTestContentMissing = Phrase(
    "Enter at least two contents, each with a text.", "请至少填写两个内容版本，且每个版本都有内容。")
  static let abTestShareWrong = Phrase("Enter a number from 1 to 100.", "请输入 1 至 100 的数字。")
  static let abTestMinutesWrong = Phrase("Enter a number from 1 to 10080.", "请输入 1 至 10080 的数字。")
  static let abTestAudienceMissing = Phrase("Enter whom it is for.", "请填写目标人群。")
  static let abTestWrong = Phrase("This is not a valid A/B test: {}", "A/B 测试无效：{}")

  // MARK: Results

  static let abTestPlan = Phrase(
    "{}% of the audience takes part; the winner is chosen after {}.", "{}% 的人群参与测试，{}后选出胜出版本。")
  static let abTestPlanEarlier = Phrase(
    "{}% of the audience takes part; the winner is chosen after {}, or earlier with {}% confidence.",
    "{}% 的人群参与测试，{}后或置信度达到 {}% 时选出胜出版本。")
  static let minutesOne = Phrase("{} minute", "{} 分钟")
  static let minutesSeveral = Phrase("{} minutes", "{} 分钟")
  static let secondsSeveral = Phrase("{} seconds", "{} 秒")
  static let abTestNextLook = Phrase("Next look at the figures", "下次检查数据的时间")
  static let abTestEarlierRuns = Phrase("Earlier results", "历史结果")
  static let tapRate = Phrase("Tap rate", "点击率")
  static let confidenceColumn = Phrase("Confidence", "置信度")
  static let confidenceText = Phrase(
    "Confidence is how sure it is that the rate differs from the highest one, by this comparison alone.",
    "置信度表示该版本与最高点击率之间存在差异的把握（仅指该次比较）。")
  static let abTestRest = Phrase("{} wait for the winner", "{}等待胜出版本")
  static let abTestWon = Phrase("Winner", "胜出")
  static let abTestWinnerSent = Phrase("Winner sent", "已发送胜出版本")
  static let abTestNobodyLeft = Phrase("Nobody was left to get the winner", "没有其余设备可发送")
  static let abTestNoWinner = Phrase("All contents were recalled", "所有版本均已撤回")
  static let abTestFailed = Phrase("The winner could not be sent", "胜出版本发送失败")
  static let abTestWasStopped = Phrase("Stopped", "已停止")
  static let abTestRunning = Phrase("Running", "进行中")
  static let abTestDecidedOn = Phrase("{} of {} when the winner was chosen", "选出时 {}/{}")
}

/// Names for parts of A/B tests.
enum ABTestWords {
  /// The letter of the content at a place, from 0 on.
  static func letter(_ place: Int) -> String { String(UnicodeScalar(UInt8(65 + min(max(place, 0), 25)))) }

  /// The content at a place.
  static func content(_ place: Int) -> Phrase { Words.abTestContent.with(letter(place)) }

  /// How far a run has come, and its color.
  static func state(_ state: ABTestRunRow.State) -> (phrase: Phrase, mark: StateMark) {
    switch state {
    case .running: (Words.abTestRunning, .open)
    case .sent: (Words.abTestWinnerSent, .done)
    case .nobodyLeft: (Words.abTestNobodyLeft, .over)
    case .noWinner: (Words.abTestNoWinner, .over)
    case .stopped: (Words.abTestWasStopped, .over)
    case .failed: (Words.abTestFailed, .failed)
    }
  }

  /// When a winner is chosen, and among how many.
  static func plan(_ design: ABTestDesign) -> Phrase {
    let (share, seconds) = (Phrase(verbatim: String(design.share)), Int(design.seconds))
    let time =
      seconds % 60 == 0
      ? Counted.counted(seconds / 60, Words.minutesOne, Words.minutesSeveral)
      : Words.secondsSeveral.with(Counted.grouped(seconds))
    guard let confidence = design.confidence else { return Words.abTestPlan.with(each: share, time) }
    return Words.abTestPlanEarlier.with(each: share, time, Phrase(verbatim: String(confidence)))
  }

  /// A part of 1 in percent, with one digit behind the point.
  static func percent(_ part: Double) -> String {
    let tenths = Int((part * 1000).rounded())
    return "\(tenths / 10).\(tenths % 10)%"
  }
}
