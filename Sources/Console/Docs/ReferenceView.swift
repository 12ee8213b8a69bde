import BorealisBase

/// The pages of the reference: the list of the calls, and a page for each. What comes from the description is
/// in English.
struct ReferenceView {
  let call: PageCall
  let frame: DocsFrame

  // MARK: The list

  func list() -> HTML {
    """
    <div class="manual-page">\(DocsHeadings(headings, language: .english).html(call))<div class="text">
    <h1>\(call(Words.apiReference))</h1>
    <p>\(call(Words.apiReferenceText))</p>
    <p><a href="/openapi.json">\(call(Words.apiFile))</a></p>
    \(APIReference.groups, { group($0) })
    \(frame.neighbors(call))</div></div>
    """
  }

  private var headings: [MarkdownPage.Heading] {
    APIReference.groups.map { .init(level: 2, text: $0.name, anchor: Self.anchor($0)) }
  }

  private static func anchor(_ group: APIReference.Group) -> String {
    var names = AnchorNames()
    return names.next(for: group.name)
  }

  private func group(_ group: APIReference.Group) -> HTML {
    """
    <section lang="en"><h2 id="\(Self.anchor(group))">\(group.name)</h2>
    \(if: !group.description.isEmpty, Self.prose(group.description))
    <ul class="calls">
    \(group.operations, { entry($0) })</ul></section>

    """
  }

  private func entry(_ operation: APIOperation) -> HTML {
    """
    <li><a href="\(frame.links.address(operation.page))">\(Self.line(operation))</a> <span>\(operation.summary)</span></li>

    """
  }

  private static func line(_ operation: APIOperation) -> HTML {
    """
    <code><strong>\(operation.method)</strong> \(operation.path)</code>
    """
  }

  /// A text of the description, which has marks of Markdown.
  static func prose(_ text: String) -> HTML { MarkdownPage(text, address: { _ in nil }).html }

  // MARK: One call

  func page(_ operation: APIOperation) -> HTML {
    """
    <div class="manual-page"><div class="text">
    <p><a href="\(frame.links.address(APIReference.path))">\(call(Words.apiReference))</a></p>
    <h1 lang="en">\(operation.summary)</h1>
    <p class="call">\(Self.line(operation))</p>
    <div lang="en">\(Self.prose(operation.description))</div>
    \(login(operation))
    \(examples(operation))
    \(parameters(operation))
    \(operation.body, { body($0) })
    \(answers(operation))
    </div></div>
    """
  }

  private func login(_ operation: APIOperation) -> HTML {
    guard !operation.logins.isEmpty else {
      return "<h2 id=\"login\">\(call(Words.apiLogin))</h2><p>\(call(Words.apiNoLogin))</p>"
    }
    return """
      <h2 id="login">\(call(Words.apiLogin))</h2>
      <ul>\(operation.logins, { login in
        """
        <li><span lang="en">\(APIReference.login(login.scheme))</span>\
        \(login.right, { " \(call(Words.apiRight.with($0)))" })</li>
        """
      })</ul>
      """
  }

  private func examples(_ operation: APIOperation) -> HTML {
    guard let request = RequestExample(operation) else { return .none }
    return """
      <h2 id="examples">\(call(Words.apiExamples))</h2>
      <p>\(call(Words.apiExamplesText))</p>
      <pre tabindex="0"><code class="language-bash">\(request.settings(address: call.origin))</code></pre>
      \(if: operation.path.contains("{"), "<p class=\"quiet\">\(call(Words.apiExampleValues))</p>")
      <div class="examples">\(ExampleLanguage.all(for: request), { example($0, request) })</div>
      """
  }

  private func example(_ language: ExampleLanguage, _ request: RequestExample) -> HTML {
    let text = language.text(request)
    return """
      <details name="example"\(if: language == .curl, " open")><summary>\(language.name)</summary>
      \(call.copyButton(text))
      <pre tabindex="0"><code class="language-\(language.code)">\(text)</code></pre></details>

      """
  }

  private func parameters(_ operation: APIOperation) -> HTML {
    guard !operation.parameters.isEmpty else { return .none }
    return """
      <h2 id="parameters">\(call(Words.apiParameters))</h2>
      <table><thead><tr><th>\(call(Words.apiParameter))</th><th>\(call(Words.apiPlace))</th><th>\(call(Words.apiWhat))</th></tr></thead>
      <tbody>\(operation.parameters, { parameter($0) })</tbody></table>
      """
  }

  private func parameter(_ parameter: APIOperation.Parameter) -> HTML {
    """
    <tr><td><code>\(parameter.name)</code>\(if: parameter.isRequired, " <span class=\"pill\">\(call(Words.apiRequired))</span>")</td>
    <td lang="en">\(parameter.place)</td>
    <td lang="en">\(Self.prose(parameter.description))<p class="quiet">\(SchemaView.summary(parameter.schema))</p></td></tr>

    """
  }

  private func body(_ body: APIOperation.Body) -> HTML {
    """
    <h2 id="body">\(call(Words.apiBody))</h2>
    <p><code>\(body.type)</code></p>
    \(SchemaView(call: call).html(body.schema))
    """
  }

  private func answers(_ operation: APIOperation) -> HTML {
    """
    <h2 id="answers">\(call(Words.apiAnswers))</h2>
    <div class="answers">\(operation.answers, { answer($0) })</div>
    """
  }

  private func answer(_ answer: APIOperation.Answer) -> HTML {
    """
    <details\(if: answer.status.hasPrefix("2"), " open")><summary>\(answer.status)</summary>
    <div lang="en">\(Self.prose(answer.description))</div>
    \(answer.body, { content($0, isGood: answer.status.hasPrefix("2")) })</details>

    """
  }

  /// Errors have one form, which their examples show.
  private func content(_ body: APIOperation.Body, isGood: Bool) -> HTML {
    """
    \(body.example, { "<pre tabindex=\"0\"><code class=\"language-json\">\($0.indented)</code></pre>" })
    \(if: isGood, SchemaView(call: call).html(body.schema))
    """
  }
}
