import BorealisBase
import Core

/// The fields of the test-push page.
enum PushFormFields {
  /// `kept` is when a schedule that is edited fires: once or again and again.
  static func html(_ call: PageCall, _ form: PushForm, kept: PushTiming.Mode? = nil) -> HTML {
    """
    <fieldset><legend>\(call(Words.kind))</legend>
    \(radio(call, "kind", PushForm.Kind.allCases.map { ($0.rawValue, $0.phrase) }, form.kind.rawValue))
    </fieldset>
    <fieldset><legend>\(call(Words.platforms))</legend>
    \(Platform.allCases, { Forms.box("checkbox", $0.name, call($0.phrase), isChosen: form.platforms.contains($0)) })
    </fieldset>
    <fieldset><legend>\(call(Words.audience))</legend>
    \(radio(call, "audience", PushForm.Audience.allCases.map { ($0.rawValue, $0.phrase) }, form.audience.rawValue))
    <button type="button" class="small" hidden data-own-device="\(call.app?.key.text ?? "")">\(call(Words.toVirtualDevice))</button>
    \(names(call, form))
    <div data-shown-for="segment">\(segment(call, form))</div>
    <div data-shown-for="tag">
    \(Forms.field(call(Words.allTags), "all_tags", value: form.allTags, isRequired: false))
    \(Forms.field(call(Words.noTags), "no_tags", value: form.noTags, isRequired: false))
    </div>
    <p class="audience" aria-live="polite" data-audience-size>&nbsp;</p>
    </fieldset>
    \(Forms.field(call(Words.title), "title", value: form.title, isRequired: false))
    <label for="text">\(call(Words.text))</label>
    <textarea id="text" name="text" rows="3" required>\(form.text)</textarea>
    \(Forms.field(call(Words.hours), "hours", type: "number", value: form.hours.map { String($0) } ?? "",
      isRequired: false, most: PushForm.mostHours, hint: call(Words.usualHours)))
    \(PushExtrasFields.html(call, form.extras))
    \(form.canary.html(call))
    \(PushTimingFields.html(call, form.timing, kept: kept))
    """
  }

  /// The field for names, labelled with what is to be named.
  private static func names(_ call: PageCall, _ form: PushForm) -> HTML {
    """
    <div data-shown-for="registration alias tag">
    <label for="names"><span data-shown-for="registration">\(call(Words.registrationIDs))</span>
    <span data-shown-for="alias">\(call(Words.aliases))</span>
    <span data-shown-for="tag">\(call(Words.someTags))</span></label>
    <input id="names" name="names" value="\(form.names)" autocomplete="off" aria-describedby="names-hint">
    <p class="hint" id="names-hint">\(call(Words.severalNames))
    <span data-shown-for="tag">\(call(Words.oneTagIsEnough))</span></p>
    </div>
    """
  }

  private static func segment(_ call: PageCall, _ form: PushForm) -> HTML {
    guard !call.segments.isEmpty else {
      return """
        <p class="hint">\(call(Words.makeSegmentFirst)) <a href="/console/apps/\(call.app?.key.text ?? "")/segments/new">\(call(Words.newSegment))</a></p>
        """
    }
    let options = [("", "–")] + call.segments.map { (String($0.id), $0.name) }
    return Forms.choice(call(Words.segment), "segment", options, chosen: form.segment)
  }

  private static func radio(
    _ call: PageCall, _ name: String, _ options: [(value: String, phrase: Phrase)], _ chosen: String
  ) -> HTML {
    "\(options, { Forms.box("radio", name, value: $0.value, call($0.phrase), isChosen: $0.value == chosen) })"
  }
}

extension PushForm.Kind {
  fileprivate var phrase: Phrase { self == .notification ? Words.notification : Words.message }
}

extension PushForm.Audience {
  fileprivate var phrase: Phrase {
    switch self {
    case .registration: Words.oneDevice
    case .alias: Words.alias
    case .tag: Words.tag
    case .everybody: Words.everybody
    case .segment: Words.segment
    }
  }
}
