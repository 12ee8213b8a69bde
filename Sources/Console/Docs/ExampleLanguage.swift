/// A language of examples, with its own rules for strings.
enum ExampleLanguage: String, CaseIterable, Sendable {
  case curl, python, java, php, go, node

  /// The languages that can send a request: `fetch` refuses a body with GET.
  static func all(for request: RequestExample) -> [ExampleLanguage] {
    allCases.filter { $0 != .node || request.method != "GET" || request.json == nil }
  }

  /// What it is called.
  var name: String {
    switch self {
    case .curl: "curl"
    case .python: "Python"
    case .java: "Java"
    case .php: "PHP"
    case .go: "Go"
    case .node: "Node.js"
    }
  }

  /// The name of the language, as fenced code has it.
  var code: String {
    switch self {
    case .curl: "bash"
    case .node: "javascript"
    default: rawValue
    }
  }

  /// The example of a request: a whole program, or a command.
  func text(_ request: RequestExample) -> String {
    switch self {
    case .curl: curl(request)
    case .python: python(request)
    case .java: java(request)
    case .php: php(request)
    case .go: go(request)
    case .node: node(request)
    }
  }

  // MARK: Strings

  /// A text as a literal of several lines; what could end or change it is escaped.
  func literal(_ text: String) -> String {
    switch self {
    // Within single quotes nothing has a meaning, so that a quote ends them.
    case .curl: "'\(text.replacing("'", with: "'\\''"))'"
    case .python: "\"\"\"\(Self.escaped(text).replacing("\"\"\"", with: "\\\"\\\"\\\""))\"\"\""
    // A text block begins on the next line and loses the blanks that all of its lines have.
    case .java:
      "\"\"\"\n\(Self.shifted(Self.escaped(text).replacing("\"\"\"", with: "\\\"\\\"\\\""), by: 16))\"\"\""
    // A nowdoc, in which nothing has a meaning.
    case .php: "<<<'JSON'\n\(text)\nJSON"
    // A raw literal, which cannot hold its own quote.
    case .go: "`\(text.replacing("`", with: "` + \"`\" + `"))`"
    case .node: "`\(Self.escaped(text).replacing("`", with: "\\`").replacing("${", with: "\\${"))`"
    }
  }

  private static func escaped(_ text: String) -> String { text.replacing("\\", with: "\\\\") }

  private static func shifted(_ text: String, by count: Int) -> String {
    let margin = String(repeating: " ", count: count)
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { margin + $0 }
      .joined(separator: "\n")
  }

  /// Lines that are there only for some requests, each with its end.
  private static func lines(_ lines: [String?]) -> String {
    lines.compactMap { $0.map { "\($0)\n" } }.joined()
  }

  // MARK: Languages

  private func curl(_ request: RequestExample) -> String {
    var parts = ["curl -X \(request.method) \"$\(RequestExample.base)\(request.target)\""]
    switch request.login {
    case .none: break
    case .basic(let user, let secret, let prefix): parts.append("-u \"\(prefix)$\(user):$\(secret)\"")
    case .header(let name, let variable): parts.append("-H \"\(name): $\(variable)\"")
    }
    if let json = request.json {
      parts += ["-H 'Content-Type: application/json'", "-d \(literal(json))"]
    }
    return parts.joined(separator: " \\\n  ")
  }

  private func python(_ request: RequestExample) -> String {
    var login: String?
    var header: String?
    switch request.login {
    case .none: break
    case .basic(let user, let secret, let prefix):
      let name = "\(prefix.isEmpty ? "" : "\"\(prefix)\" + ")os.environ[\"\(user)\"]"
      login = "login = \(name) + \":\" + os.environ[\"\(secret)\"]\n"
      header = "        \"Authorization\": \"Basic \" + base64.b64encode(login.encode()).decode(),"
    case .header(let name, let variable): header = "        \"\(name)\": os.environ[\"\(variable)\"],"
    }
    return Self.lines([
      login == nil ? nil : "import base64", "import os", "import urllib.error", "import urllib.request\n",
      login, "request = urllib.request.Request(",
      "    os.environ[\"\(RequestExample.base)\"] + \"\(request.target)\",",
      "    method=\"\(request.method)\",",
      "    headers={", header,
      request.json == nil ? nil : "        \"Content-Type\": \"application/json\",", "    },",
      request.json.map { "    data=\(literal($0)).encode()," }, ")", "try:",
      "    with urllib.request.urlopen(request) as answer:",
      "        print(answer.status, answer.read().decode())",
      "except urllib.error.HTTPError as error:", "    print(error.code, error.read().decode())",
    ])
  }

  private func java(_ request: RequestExample) -> String {
    var login: String?
    var header: String?
    switch request.login {
    case .none: break
    case .basic(let user, let secret, let prefix):
      let name = "\(prefix.isEmpty ? "" : "\"\(prefix)\" + ")System.getenv(\"\(user)\")"
      login = "        String login = \(name) + \":\" + System.getenv(\"\(secret)\");"
      header =
        "            .header(\"Authorization\", \"Basic \" + Base64.getEncoder().encodeToString(login.getBytes()))"
    case .header(let name, let variable):
      header = "            .header(\"\(name)\", System.getenv(\"\(variable)\"))"
    }
    let body =
      request.json.map { "HttpRequest.BodyPublishers.ofString(\(literal($0)))" }
      ?? "HttpRequest.BodyPublishers.noBody()"
    return Self.lines([
      "import java.net.URI;", "import java.net.http.HttpClient;", "import java.net.http.HttpRequest;",
      "import java.net.http.HttpResponse;", login == nil ? nil : "import java.util.Base64;",
      "\npublic class Example {", "    public static void main(String[] arguments) throws Exception {", login,
      "        URI address = URI.create(System.getenv(\"\(RequestExample.base)\") + \"\(request.target)\");",
      "        HttpRequest request = HttpRequest.newBuilder(address)", header,
      request.json == nil ? nil : "            .header(\"Content-Type\", \"application/json\")",
      "            .method(\"\(request.method)\", \(body))", "            .build();",
      "        HttpResponse<String> answer =",
      "            HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());",
      "        System.out.println(answer.statusCode() + \" \" + answer.body());", "    }", "}",
    ])
  }

  private func php(_ request: RequestExample) -> String {
    var login: String?
    var headers: [String] = []
    switch request.login {
    case .none: break
    case .basic(let user, let secret, let prefix):
      let name = "\(prefix.isEmpty ? "" : "'\(prefix)' . ")getenv('\(user)')"
      login = "    CURLOPT_USERPWD => \(name) . ':' . getenv('\(secret)'),"
    case .header(let name, let variable): headers.append("'\(name): ' . getenv('\(variable)')")
    }
    if request.json != nil { headers.append("'Content-Type: application/json'") }
    let list = headers.joined(separator: ", ")
    return Self.lines([
      "<?php", request.json.map { "$body = \(literal($0));" },
      "$request = curl_init(getenv('\(RequestExample.base)') . '\(request.target)');",
      "curl_setopt_array($request, [", "    CURLOPT_CUSTOMREQUEST => '\(request.method)',", login,
      headers.isEmpty ? nil : "    CURLOPT_HTTPHEADER => [\(list)],",
      request.json == nil ? nil : "    CURLOPT_POSTFIELDS => $body,",
      "    CURLOPT_RETURNTRANSFER => true,", "]);", "$answer = curl_exec($request);",
      "echo curl_getinfo($request, CURLINFO_RESPONSE_CODE), ' ', $answer, PHP_EOL;",
    ])
  }

  private func go(_ request: RequestExample) -> String {
    var login: String?
    switch request.login {
    case .none: break
    case .basic(let user, let secret, let prefix):
      let name = "\(prefix.isEmpty ? "" : "\"\(prefix)\" + ")os.Getenv(\"\(user)\")"
      login = "\trequest.SetBasicAuth(\(name), os.Getenv(\"\(secret)\"))"
    case .header(let name, let variable):
      login = "\trequest.Header.Set(\"\(name)\", os.Getenv(\"\(variable)\"))"
    }
    return Self.lines([
      "package main\n\nimport (\n\t\"fmt\"\n\t\"io\"\n\t\"net/http\"\n\t\"os\"",
      request.json == nil ? ")\n" : "\t\"strings\"\n)\n", "func main() {",
      request.json.map { "\tbody := strings.NewReader(\(literal($0)))" },
      "\taddress := os.Getenv(\"\(RequestExample.base)\") + \"\(request.target)\"",
      "\trequest, err := http.NewRequest(\"\(request.method)\", address, \(request.json == nil ? "nil" : "body"))",
      "\tif err != nil {\n\t\tpanic(err)\n\t}", login,
      request.json == nil ? nil : "\trequest.Header.Set(\"Content-Type\", \"application/json\")",
      "\tanswer, err := http.DefaultClient.Do(request)", "\tif err != nil {\n\t\tpanic(err)\n\t}",
      "\tdefer answer.Body.Close()", "\ttext, err := io.ReadAll(answer.Body)",
      "\tif err != nil {\n\t\tpanic(err)\n\t}", "\tfmt.Println(answer.StatusCode, string(text))", "}",
    ])
  }

  private func node(_ request: RequestExample) -> String {
    var login: String?
    var header: String?
    switch request.login {
    case .none: break
    case .basic(let user, let secret, let prefix):
      login =
        "const login = Buffer.from(`\(prefix)${process.env.\(user)}:${process.env.\(secret)}`).toString(\"base64\");"
      header = "    \"Authorization\": `Basic ${login}`,"
    case .header(let name, let variable): header = "    \"\(name)\": process.env.\(variable),"
    }
    return Self.lines([
      login, "const answer = await fetch(process.env.\(RequestExample.base) + \"\(request.target)\", {",
      "  method: \"\(request.method)\",", "  headers: {", header,
      request.json == nil ? nil : "    \"Content-Type\": \"application/json\",", "  },",
      request.json.map { "  body: \(literal($0))," }, "});",
      "console.log(answer.status, await answer.text());",
    ])
  }
}
