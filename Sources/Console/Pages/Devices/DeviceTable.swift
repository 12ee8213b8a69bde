import BorealisBase
import Core
import Model
import Storage

/// A page of the list of devices.
struct DeviceTable: Sendable {
  let call: PageCall
  let app: App
  /// The channels that the server has.
  let channels: [ChannelInfo]

  func html(_ list: DeviceList, _ form: DeviceFilterForm) -> HTML {
    guard !list.entries.isEmpty else {
      let word = form.isEmpty && form.after == nil ? Words.noDevices : Words.noDeviceMatches
      return "<section class=\"card\"><p class=\"quiet\">\(call(word))</p></section>"
    }
    return """
      <section class="card"><h2>\(call(Counted.devices(list.count)))</h2>
      <table class="devices"><thead><tr><th>\(call(Words.deviceName))</th><th>\(call(Words.alias))</th>
      <th>\(call(Words.platform))</th><th>\(call(Words.tags))</th><th>\(call(Words.tokenWord))</th>
      <th>\(call(Words.lastSeenField))</th>\(if: maySend, "<th><span class=\"visually-hidden\">\(call(Words.sendTo))</span></th>")</tr></thead>
      <tbody>\(list.entries, { row($0) })</tbody></table>
      \(list.end, { more(form, $0) })</section>
      """
  }

  private var maySend: Bool { call.role ?? .viewer >= .sender }

  private func more(_ form: DeviceFilterForm, _ place: DevicePlace) -> HTML {
    """
    <p class="row"><a class="button plain" href="\(form.query(after: place))" rel="next">\(call(Words.more))</a></p>
    """
  }

  private func row(_ device: DeviceList.Entry) -> HTML {
    let id = device.row.registrationID.text
    let path = "/console/apps/\(app.key.text)"
    let send: HTML =
      maySend
      ? "<td><a href=\"\(path)/push?registration_id=\(id)\" aria-label=\"\(call(Words.sendPush)) \(id)\">\(call(Words.sendTo))</a></td>"
      : .none
    return """
      <tr><td><a href="\(path)/devices/\(id)"><code>\(id)</code></a>\(model(device))</td>
      <td\(label(Words.alias))>\(device.row.alias ?? "")</td>
      <td>\(call(device.row.platform.phrase))\(version(device))</td>
      <td\(label(Words.tags))>\(tags(device))</td>
      <td\(label(Words.tokenWord))>\(tokens(device))</td>
      <td>\(seen(device))</td>\(send)</tr>

      """
  }

  /// For phones, where the heads of the table are not shown.
  private func label(_ name: Phrase) -> HTML { " data-label=\"\(call(name))\"" }

  private func model(_ device: DeviceList.Entry) -> HTML {
    "\(device.facts[.model], { "<span class=\"quiet\">\($0)</span>" })"
  }

  private func version(_ device: DeviceList.Entry) -> HTML {
    let stored = device.row.appVersion
    let version =
      device.facts[.appVersion] ?? (app.facts.contains(.appVersion) || stored.isEmpty ? nil : stored)
    return "\(version, { " <span class=\"quiet\">\($0)</span>" })"
  }

  private func tags(_ device: DeviceList.Entry) -> HTML {
    let more = device.row.tags.count - device.tags.count
    let names = device.tags.joined(separator: call(Words.comma))
    guard more > 0 else { return "\(names)" }
    return "\(names) <span class=\"quiet\">+\(more)</span>"
  }

  private func tokens(_ device: DeviceList.Entry) -> HTML {
    var names: [String] = []
    for token in device.tokens {
      guard let info = channels.first(where: { $0.id == token.channel }) else { continue }
      let name = DeviceFilterForm.name(info, info.service(token.service), call)
      if !names.contains(name) { names.append(name) }
    }
    return "\(names.joined(separator: call(Words.comma)))"
  }

  private func seen(_ device: DeviceList.Entry) -> HTML {
    guard !device.isOnline else { return call.state(.done, Words.online) }
    return device.lastSeen.map { call.moment($0) } ?? "<span class=\"quiet\">\(call(Words.neverSeen))</span>"
  }
}
