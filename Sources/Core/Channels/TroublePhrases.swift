import BorealisBase

extension Phrase {
  /// A trouble as the program notes it, in English, for people: why a credential is paused, a connection
  /// failed, or a service could not be asked. What another program said in it stays as it is.
  package init(problem text: String) {
    for known in Self.troubles {
      guard let values = known.values(in: text) else { continue }
      guard !values.isEmpty else {
        self = known
        return
      }
      self = known.with(each: values.map { Phrase(problem: $0) })
      return
    }
    self.init(verbatim: text)
  }

  /// The first that fits is taken.
  private static let troubles: [Phrase] = [
    Phrase("paused: {}", "已暂停：{}"), Phrase("by {}", "由 {} 暂停"),
    Phrase("proxy {} port {}: {}", "代理 {}:{}：{}"),
    Phrase("the proxy does not answer in HTTP", "代理的应答不是 HTTP"),
    Phrase("the proxy says more than that there is a tunnel", "代理在隧道建立后返回了多余内容"),
    Phrase("the certificate has expired", "证书已过期"),
    Phrase("there is no key in it", "密钥文件中没有密钥"), Phrase("what is stored is not sealed", "存储的凭证未加密"),
    Phrase(
      "it is sealed with the secret key {}; the secret key file holds {}", "凭证用服务器密钥 {} 加密，而密钥文件中的是 {}"),
    Phrase("what is stored was changed, or belongs to another app", "存储的凭证已损坏，或属于其他应用"),
    Phrase(
      "the stored credential does not fit this server's settings, such as --fcm-url or --makers-url; enter it again",
      "存储的凭证与服务器的设置（如 --fcm-url、--makers-url）不符，请重新填写"),
    Phrase("no reason given", "未说明原因"), Phrase("{} without a reason", "{}（未说明原因）"),
    // What services answer.
    Phrase("Apple answered {} for this topic", "苹果应答 {}（针对该 Bundle ID）"),
    Phrase("Apple answered {}: is the server's clock right?", "苹果应答 {}，请检查服务器时间"),
    Phrase("Apple answered {}", "苹果应答 {}"), Phrase("Apple answers {}", "苹果应答 {}"),
    Phrase(
      "Apple calls a new provider token expired: is the server's clock right?",
      "苹果认为新的 Provider Token 已过期，请检查服务器时间"),
    Phrase("Apple closed the connection: {}", "苹果关闭了连接：{}"), Phrase("Apple gave no answer", "苹果没有应答"),
    Phrase("{}'s token service answered {}", "{} 的令牌服务应答 {}"),
    Phrase("{}'s answer has no token of access", "{} 的应答中没有访问令牌"),
    Phrase("{} refused the credential: {}", "{} 拒绝了该凭证：{}"), Phrase("{} refused the key: {}", "{} 拒绝了该密钥：{}"),
    Phrase("the proxy answered {}", "代理应答 {}"),
    Phrase("answered {}: redirects are not followed", "返回 {}：不支持重定向"), Phrase("answered {}", "返回 {}"),
    Phrase("{} answered {}", "{} 应答 {}"),
    Phrase("the app has no callback address", "应用未设置回调地址"),
    Phrase("nothing of it has a form in Getui's format", "事件均无法用个推格式表示"),
    Phrase("nothing of it has a form in Borealis' format", "事件均无法用 Borealis 格式表示"),
    Phrase("the app has no master secret for Getui's API", "应用没有个推 API 的 masterSecret"),
    // Why there is no answer.
    Phrase("no answer", "没有应答"), Phrase("no answer in time", "未及时应答"),
    Phrase("a token of access is being asked for", "正在获取访问令牌"), Phrase("the server stops", "服务器正在停止"),
    Phrase("the connections were closed", "连接已关闭"), Phrase("too many requests are under way", "进行中的请求过多"),
    Phrase("the address is not allowed", "不允许访问该地址"), Phrase("the address is malformed", "地址格式不正确"),
    Phrase("the name cannot be looked up", "无法解析域名"), Phrase("the name {} cannot be looked up", "无法解析域名 {}"),
    Phrase("looking up {} takes too long", "解析域名 {} 超时"),
    Phrase("TLS: {} does not speak HTTP/2 (no ALPN)", "{} 不支持 HTTP/2（无 ALPN）"),
    Phrase("TLS with {}: {}", "与 {} 的 TLS 握手：{}"),
    Phrase("certificate refused: {}", "证书未通过验证：{}"),
    Phrase("{} sends no SETTINGS", "{} 没有响应"), Phrase("{} gives no sign of life", "{} 没有响应"),
    Phrase("{} through proxy {} port {}", "{} 经代理 {}:{}"),
    Phrase("the peer closed during the handshake", "对方在握手时关闭了连接"),
    Phrase("{}: it closed the connection", "{}：对方关闭了连接"), Phrase("it closed the connection", "对方关闭了连接"),
    Phrase("the peer closed", "对方关闭了连接"), Phrase("the peer vanished", "与对方的连接中断"),
    // The system's and libcurl's own words for what happens most.
    Phrase("{}: Connection refused", "{}：连接被拒绝"), Phrase("Connection refused", "连接被拒绝"),
    Phrase("{}: Connection timed out", "{}：连接超时"), Phrase("Connection timed out", "连接超时"),
    Phrase("{}: Connection reset by peer", "{}：连接被对方重置"), Phrase("Connection reset by peer", "连接被对方重置"),
    Phrase("{}: No route to host", "{}：无法到达主机"), Phrase("No route to host", "无法到达主机"),
    Phrase("{}: Network is unreachable", "{}：网络不可达"), Phrase("Network is unreachable", "网络不可达"),
    Phrase("Couldn't connect to server", "无法连接服务器"), Phrase("Could not connect to server", "无法连接服务器"),
    Phrase("Timeout was reached", "请求超时"), Phrase("Couldn't resolve host name", "无法解析域名"),
    Phrase("Could not resolve hostname", "无法解析域名"),
    Phrase("SSL peer certificate or SSH remote key was not OK", "对方的 TLS 证书未通过验证"),
    Phrase("SSL connect error", "TLS 握手失败"),
    Phrase("Server returned nothing (no headers, no data)", "对方没有返回任何数据"),
    // Details of a diagnosis.
    Phrase("{}, next attempt at {}", "{}，下次尝试 {}"), Phrase("{}, no receipt yet", "{}，尚无回执"),
    Phrase("no receipt yet", "尚无回执"), Phrase("{}, arrived", "{}，已送达"), Phrase("arrived", "已送达"),
  ]

  /// What stands in a text in the places of `{}` of the English template; nil if it is another text.
  private func values(in text: String) -> [String]? {
    var parts = english.split(separator: "{}", omittingEmptySubsequences: false)
    guard let first = parts.first, text.hasPrefix(first) else { return nil }
    var rest = text.dropFirst(first.count)
    parts.removeFirst()
    guard let last = parts.popLast() else { return rest.isEmpty ? [] : nil }
    var values: [String] = []
    for part in parts {
      guard let place = rest.firstRange(of: part) else { return nil }
      values.append(String(rest[..<place.lowerBound]))
      rest = rest[place.upperBound...]
    }
    guard rest.hasSuffix(last) else { return nil }
    values.append(String(rest.dropLast(last.count)))
    return values.contains("") ? nil : values
  }
}
