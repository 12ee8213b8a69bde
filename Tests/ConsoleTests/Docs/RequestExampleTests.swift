import BorealisBase
import Foundation
import PushTesting
import Testing

@testable import Console

/// Examples of requests. Those in curl, Python and Java also run (Tests/PythonClient/docs_examples.py).
@Suite struct RequestExampleTests {
  private static let request = RequestExample(
    method: "POST", target: "/v3/push?a=b",
    login: .basic(user: "APP_KEY", secret: "MASTER_SECRET", prefix: ""),
    json: "{\n  \"a\": 1\n}")

  @Test func `Each language has its own form`() {
    #expect(
      ExampleLanguage.curl.text(Self.request) == """
        curl -X POST "$BOREALIS_URL/v3/push?a=b" \\
          -u "$APP_KEY:$MASTER_SECRET" \\
          -H 'Content-Type: application/json' \\
          -d '{
          "a": 1
        }'
        """)
    #expect(
      ExampleLanguage.php.text(Self.request) == """
        <?php
        $body = <<<'JSON'
        {
          "a": 1
        }
        JSON;
        $request = curl_init(getenv('BOREALIS_URL') . '/v3/push?a=b');
        curl_setopt_array($request, [
            CURLOPT_CUSTOMREQUEST => 'POST',
            CURLOPT_USERPWD => getenv('APP_KEY') . ':' . getenv('MASTER_SECRET'),
            CURLOPT_HTTPHEADER => ['Content-Type: application/json'],
            CURLOPT_POSTFIELDS => $body,
            CURLOPT_RETURNTRANSFER => true,
        ]);
        $answer = curl_exec($request);
        echo curl_getinfo($request, CURLINFO_RESPONSE_CODE), ' ', $answer, PHP_EOL;

        """)
    #expect(
      ExampleLanguage.go.text(Self.request) == """
        package main

        import (
        \t"fmt"
        \t"io"
        \t"net/http"
        \t"os"
        \t"strings"
        )

        func main() {
        \tbody := strings.NewReader(`{
          "a": 1
        }`)
        \taddress := os.Getenv("BOREALIS_URL") + "/v3/push?a=b"
        \trequest, err := http.NewRequest("POST", address, body)
        \tif err != nil {
        \t\tpanic(err)
        \t}
        \trequest.SetBasicAuth(os.Getenv("APP_KEY"), os.Getenv("MASTER_SECRET"))
        \trequest.Header.Set("Content-Type", "application/json")
        \tanswer, err := http.DefaultClient.Do(request)
        \tif err != nil {
        \t\tpanic(err)
        \t}
        \tdefer answer.Body.Close()
        \ttext, err := io.ReadAll(answer.Body)
        \tif err != nil {
        \t\tpanic(err)
        \t}
        \tfmt.Println(answer.StatusCode, string(text))
        }

        """)
    #expect(
      ExampleLanguage.node.text(Self.request) == """
        const login = Buffer.from(`${process.env.APP_KEY}:${process.env.MASTER_SECRET}`).toString("base64");
        const answer = await fetch(process.env.BOREALIS_URL + "/v3/push?a=b", {
          method: "POST",
          headers: {
            "Authorization": `Basic ${login}`,
            "Content-Type": "application/json",
          },
          body: `{
          "a": 1
        }`,
        });
        console.log(answer.status, await answer.text());

        """)
  }

  @Test func `A request without a body or a login has neither`() {
    let plain = RequestExample(method: "GET", target: "/healthz", login: .none, json: nil)
    for language in ExampleLanguage.allCases {
      let text = language.text(plain)
      #expect(text.contains("BOREALIS_URL") && text.contains("/healthz"))
      for word in ["Authorization", "USERPWD", "SetBasicAuth", "-u ", "Content-Type", "base64", "strings"] {
        #expect(!text.contains(word), "\(language): \(word)")
      }
    }
    #expect(plain.variables == ["BOREALIS_URL"])
    let token = RequestExample(
      method: "GET", target: "/v2/a", login: .header("token", variable: "TOKEN"), json: nil)
    for language in ExampleLanguage.allCases {
      #expect(language.text(token).contains("TOKEN"), "\(language)")
    }
    let group = RequestExample(
      method: "GET", target: "/v3/files", login: .basic(user: "U", secret: "S", prefix: "group-"), json: nil)
    for language in ExampleLanguage.allCases {
      #expect(language.text(group).contains("group-"), "\(language)")
    }
  }

  /// What ends or changes a literal somewhere.
  private static let nasty = #"it's \"quoted\" \\ `tick` ${env} $HOME """ \n %s #{x} */ JSON"#

  @Test func `What has a meaning in a language is escaped`() {
    let text = Self.nasty
    #expect(ExampleLanguage.curl.literal("it's") == #"'it'\''s'"#)
    #expect(ExampleLanguage.python.literal(#"a\n"""b"#) == #""""a\\n\"\"\"b""""#)
    #expect(ExampleLanguage.java.literal(#"a\n"""b"#).hasSuffix(#"a\\n\"\"\"b""""#))
    #expect(ExampleLanguage.php.literal(text) == "<<<'JSON'\n\(text)\nJSON")
    #expect(ExampleLanguage.go.literal("a`b") == "`a` + \"`\" + `b`")
    #expect(ExampleLanguage.node.literal("a`${b}\\n") == "`a\\`\\${b}\\\\n`")
  }

  /// A shell gives back what was quoted.
  @Test func `A shell reads the text as it was`() throws {
    let folder = TemporaryFolder()
    let path = folder.file("script")
    let script = "printf %s \(ExampleLanguage.curl.literal(Self.nasty)) > \(folder.file("out"))\n"
    try script.write(toFile: path, atomically: true, encoding: .utf8)
    #expect(ChildProcess.wait(for: try ChildProcess.start("sh", [path])) == 0)
    #expect(try String(contentsOfFile: folder.file("out"), encoding: .utf8) == Self.nasty)
  }

  @Test func `JSON is written with lines and blanks`() throws {
    let value = try parseJSON(Array(#"{"a":[],"b":{},"c":[1,"x"],"d":[{"e":null}],"f":"\"é\n"}"#.utf8))
    #expect(
      value.indented == """
        {
          "a": [],
          "b": {},
          "c": [1, "x"],
          "d": [
            {
              "e": null
            }
          ],
          "f": "\\"é\\n"
        }
        """)
    #expect(try parseJSON(Array(value.indented.utf8)) == value)
  }

  // MARK: The reference

  @Test func `Every call has a page with what the description says of it`() async throws {
    let browser = Browser(try ConsoleWorld())
    #expect(APIReference.operations.count > 150)
    #expect(APIReference.groups.reduce(0) { $0 + $1.operations.count } == APIReference.operations.count)
    var examples = 0
    for operation in APIReference.operations.values {
      let text = await browser.open(operation.page).text
      #expect(text.contains("<strong>\(operation.method)</strong> \(HTML.escape(operation.path))"))
      for parameter in operation.parameters { #expect(text.contains("<code>\(parameter.name)</code>")) }
      for field in operation.body?.fields ?? [] {
        #expect(text.contains("<code>\(HTML.escape(field))</code>"))
      }
      for answer in operation.answers { #expect(text.contains("<summary>\(answer.status)</summary>")) }
      for login in operation.logins {
        if let right = login.right { #expect(text.contains("the right “\(right)”"), "\(operation.id)") }
      }
      if RequestExample(operation) != nil { examples += 1 }
    }
    #expect(examples > 145)
  }

  @Test func `Samples leave no braces in addresses`() throws {
    for operation in APIReference.operations.values {
      guard let request = RequestExample(operation) else { continue }
      #expect(!request.target.contains("{") && request.target.hasPrefix("/"), "\(request.target)")
      #expect(
        request.target.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != 0x22 && $0 != 0x27 && $0 != 0x24 })
      if let json = request.json { _ = try parseJSON(Array(json.utf8)) }
    }
    let status = try #require(APIReference.operations["showUsers"].flatMap { RequestExample($0) })
    #expect(status.target == "/v3/users?time_unit=HOUR&start=2026-11-30&duration=1")
  }
}
