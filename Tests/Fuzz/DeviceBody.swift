import BorealisBase
import Model

/// The bodies of the device API: accepted updates keep the limits and never contradict themselves.
@Sendable func fuzzDeviceBody(_ bytes: [UInt8]) {
  guard let json = try? parseJSON(bytes) else { return }
  if let update = try? DeviceUpdate.parse(json, rules: PushRules(allowHyphen: true)) { check(update) }
  let plain = try? DeviceUpdate.parse(json)
  if let plain { check(plain) }
  let forTag = try? DeviceListUpdate.parseForTag(json)
  let forAlias = try? DeviceListUpdate.parseForAlias(json)
  for update in [forTag, forAlias].compactMap(\.self) {
    check(Set(update.add).isDisjoint(with: update.remove), "no device both comes and goes")
    check(update.add.count <= DeviceListUpdate.maximumDevices, "a list keeps its limit")
    check(update.remove.count <= DeviceListUpdate.maximumDevices, "a list keeps its limit")
  }
  if let forAlias { check(forAlias.add.isEmpty && forAlias == forTag, "an alias only loses devices") }
}

private func check(_ update: DeviceUpdate) {
  if case .change(let add, let remove)? = update.tags {
    check(Set(add).isDisjoint(with: remove), "no tag both comes and goes")
    for name in add + remove {
      check(NameRules.check(name, as: .tag, allowHyphen: true) == .ok, "accepted names are good")
    }
    check(max(add.count, remove.count) <= DeviceUpdate.maximumTagsInCall, "a list keeps its limit")
  }
  if case .set(let alias)? = update.alias {
    check(NameRules.check(alias, as: .alias, allowHyphen: true) == .ok, "an accepted alias is good")
  }
  if case .set(let mobile)? = update.mobile { check(NameRules.isMobile(mobile), "a number is good") }
}
