import BorealisBase

/// The texts around the documentation.
extension Words {
  static let docs = Phrase("Documentation", "文档")
  static let docsConsole = Phrase("Console", "控制台")
  static let docsSearch = Phrase("Search the documentation", "搜索文档")
  static let docsSearchTitle = Phrase("Search", "搜索")
  static let docsSearchHint = Phrase("Words, a setting, a field or a path of the API", "关键词、设置项、字段或接口路径")
  static let docsSearchText = Phrase(
    "Finds sections of all pages and calls of the API. The sections that have most of your words come first.",
    "在所有页面的章节和 API 接口中查找，匹配关键词最多的排在前面。")
  static let docsFound = Phrase("{} results", "{} 条结果")
  static let docsFoundOne = Phrase("1 result", "1 条结果")
  static let docsFoundMost = Phrase("The first {} results", "前 {} 条结果")
  static let docsSearchBusy = Phrase(
    "The search is busy. Try again in a moment.", "搜索繁忙，请稍后再试。")
  static let docsMissing = Phrase("This page does not exist", "页面不存在")
  static let docsMissingText = Phrase(
    "The documentation of this server has no page with this address. Search for it, or choose a page from the menu.",
    "本服务器的文档中没有该地址对应的页面。请搜索，或从目录中选择。")
  static let docsOnThisPage = Phrase("On this page", "本页目录")
  static let docsBefore = Phrase("Previous", "上一页")
  static let docsAfter = Phrase("Next", "下一页")
  static let docsVersion = Phrase(
    "Documentation of Borealis {}, served by this server.", "本文档由此服务器提供，对应 Borealis {}。")
  static let docsInEnglish = Phrase("", "本页暂无中文版，以下为英文内容。")
  static let docsOfIOS = Phrase("iOS library", "iOS 客户端库")
  static let docsOfAndroid = Phrase("Android and Java library", "Android 与 Java 客户端库")
  static let docsOfWeb = Phrase("Library for web pages", "浏览器客户端库")
  static let docsOfProtocol = Phrase("Device protocol", "设备协议")
  static let docsOfGetui = Phrase("Getui's API in the documentation", "文档：个推 API")
  static let docsOfCallbacks = Phrase("Callbacks in the documentation", "文档：回调")
  static let docsOfKeys = Phrase("API keys in the documentation", "文档：API 密钥")
  static let docsOfWhy = Phrase("All causes in the documentation", "文档：全部原因")
  static let apiReference = Phrase("API reference", "API 参考")
  static let apiReferenceText = Phrase(
    "Every call of the HTTP APIs, with its parameters, its body, its answers and examples in six languages.",
    "HTTP API 的全部接口，包括参数、请求体、响应和六种语言的示例。")
  static let apiFile = Phrase("Description in OpenAPI's form", "OpenAPI 描述文件")
  static let apiWhat = Phrase("What it does", "说明")
  static let apiLogin = Phrase("Login", "鉴权")
  static let apiNoLogin = Phrase("The request has no HTTP login.", "该请求不使用 HTTP 鉴权。")
  static let apiRight = Phrase("An API key needs the right “{}”.", "API 密钥需要“{}”权限。")
  static let apiExamples = Phrase("Examples", "示例")
  static let apiExamplesText = Phrase(
    "The examples read these variables of the environment:", "示例读取以下环境变量：")
  static let apiExampleValues = Phrase(
    "Values in the address, such as IDs, are samples: put yours in their place.", "地址中的 ID 等均为示例值，请替换为实际值。")
  static let apiParameters = Phrase("Parameters", "参数")
  static let apiParameter = Phrase("Parameter", "参数")
  static let apiPlace = Phrase("Place", "位置")
  static let apiBody = Phrase("Body", "请求体")
  static let apiAnswers = Phrase("Answers", "响应")
  static let apiRequired = Phrase("required", "必填")
  static let apiOneOf = Phrase("One of:", "以下之一：")
  static let apiAnyName = Phrase("any name", "任意名称")
  static let apiFields = Phrase("Fields", "字段")
}
