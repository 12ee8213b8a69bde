import BorealisBase

/// The texts about templates.
extension Words {
  static let templates = Phrase("Templates", "推送模板")
  static let templatesText = Phrase(
    "Titles and texts with variables, in one or more languages, saved under a name. Your server sends a push with the template's ID and the values.",
    "以名称保存的通知标题和内容，可包含变量和多种语言。服务端推送时只需传入模板 ID 和变量值。")
  static let noTemplatesYet = Phrase("There are no templates yet.", "暂无推送模板。")
  static let newTemplate = Phrase("New template", "新建模板")
  static let editTemplate = Phrase("Edit template", "编辑模板")
  static let deleteTemplate = Phrase("Delete template", "删除模板")
  static let deleteTemplateText = Phrase(
    "Pushes that were sent with it stay as they are.", "已使用该模板发送的推送不受影响。")
  static let templateDeleted = Phrase("The template was deleted.", "模板已删除。")
  static let templateGone = Phrase("The template no longer exists.", "该模板已不存在。")
  static let templateNameTaken = Phrase("Another template has this name.", "名称已被其他模板使用。")
  static let tooManyTemplates = Phrase(
    "The app has as many templates as it may have. Delete one first.", "模板数量已达上限，请先删除一个。")
  static let templateInUse = Phrase(
    "A scheduled push uses this template: {}. Cancel or edit it first.", "有定时推送使用该模板：{}。请先取消或修改。")

  // MARK: The form

  static let templateAlertHint = Phrase(
    "{name} stands for a value, {name|text} also has a text for pushes without the value. Write {{ for a brace.",
    "{name} 表示变量，{name|默认值} 可指定未传值时的内容。如需输入大括号，请写 {{。")
  static let templateExtras = Phrase("Extras, one name=value a line", "附加字段，每行一个 name=value")
  static let templateLanguages = Phrase("Other languages", "其他语言")
  static let templateLanguagesHint = Phrase(
    "Language, title and text. Languages are tags such as de or zh-Hans. A device gets the most specific language that matches the one it reported, or else the text above; the app must ask its devices for their language. Saving adds empty fields.",
    "依次为语言、标题和内容。语言使用 de、zh-Hans 等标签。设备按上报的语言匹配最接近的一项，未匹配时使用上面的默认内容；应用需开启语言信息上报。保存后会增加空行。")
  static let templateLanguage = Phrase("Language {}", "语言 {}")
  static let templateTitleIn = Phrase("Title {}", "标题 {}")
  static let templateAlertIn = Phrase("Text {}", "内容 {}")
  static let templateJSON = Phrase("Template as JSON", "JSON 格式的模板")
  static let templateJSONHint = Phrase(
    "This template has more to it than the form has fields for. The API documentation describes the format.",
    "该模板超出表单可编辑的范围，格式见 API 文档。")
  static let templateTextMissing = Phrase("Enter a text.", "请输入内容。")
  static let templateBraces = Phrase(
    "A brace begins no variable. Write {name} or {name|text}, and {{ for a brace.",
    "大括号格式不正确。变量请写 {name} 或 {name|默认值}，大括号本身请写 {{。")
  static let templateLanguageWrong = Phrase(
    "Enter each language once, as a tag such as de or zh-Hans, with a title or a text.",
    "请填写 de、zh-Hans 等语言标签，每种语言一次，并填写标题或内容。")
  static let templateExtrasWrong = Phrase("Enter name=value in each line.", "每行请填写 name=value。")
  static let templateWrong = Phrase("This is not a valid template: {}", "模板无效：{}")

  // MARK: Preview

  static let templatePreview = Phrase("Preview", "预览")
  static let templatePreviewText = Phrase(
    "What devices get with these values. A variable without a text of its own needs a value in each push.",
    "使用以下变量值时设备收到的内容。没有默认值的变量在每次推送时必须传值。")
  static let templateNeedsValue = Phrase("required", "必填")
  static let templateDefault = Phrase("default", "默认")
  static let showPreview = Phrase("Show", "查看")
}
