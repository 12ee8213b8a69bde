import BorealisBase

/// The texts about the search for anything.
extension Words {
  static let searchAnything = Phrase("Search", "搜索")
  static let searchHint = Phrase(
    "msg_id, registration ID, alias, tag, token, or a name", "msg_id、Registration ID、别名、标签、token 或名称")
  static let searchText = Phrase(
    "Finds pushes by msg_id, devices by registration ID, alias or token, tags and aliases by their beginning, and segments, templates, A/B tests, scheduled pushes, apps and members by name. Ctrl+K opens it from any page.",
    "可按 msg_id 查找推送，按 Registration ID、别名或 token 查找设备，按开头匹配标签和别名，按名称查找分群、模板、A/B 测试、定时推送、应用和成员。在任意页面按 Ctrl+K 可打开搜索。"
  )
  static let searchTextEverywhere = Phrase(
    "Finds apps and members by name, and pushes by msg_id and devices by registration ID or alias in all your apps. Tags, tokens and names are found from a page of their app.",
    "可按名称查找应用和成员，并在您的所有应用中按 msg_id 查找推送、按 Registration ID 或别名查找设备。标签、token 和其他名称请在所属应用的页面中搜索。")
  static let nothingFound = Phrase("Nothing matches \u{201C}{}\u{201D}.", "没有与“{}”匹配的内容。")
  static let pushFound = Phrase("Push", "推送")
  static let templateFound = Phrase("Template", "推送模板")
  static let memberFound = Phrase("Member", "成员")
}
