import PushBase
import PushDomain
import PushRouter
import PushStorage

/// Taking a device's alias away: an alias has room for ten devices, and those that are not used any more keep it.
extension DevicePage {
  /// The button, for those who may send.
  var takeAliasForm: HTML {
    guard call.role ?? .viewer >= .sender else { return .none }
    return """
      <details class="sure"><summary>\(call(Words.takeAlias))</summary>
      <form method="post" action="/console/apps/\(app.key.text)/devices/\(file.row.registrationID.text)/alias/remove">
      \(Forms.token(call))<p>\(call(Words.takeAliasText))</p>
      <button class="small danger">\(call(Words.takeAlias))</button></form></details>
      """
  }
}

extension WebConsole {
  static let aliasPages: [Page] = [
    Page(.app(.sender), "POST", "/console/apps/{app}/devices/{rid}/alias/remove") { $0.takeAlias($1) }
  ]

  private func takeAlias(_ call: PageCall) {
    guard let app = call.app, let visitor = call.visitor,
      let id = call.capture("rid").flatMap({ RegistrationID($0) }), let number = app.directory.find(id)
    else { return call.show(Failures.notFound(call), status: 404) }
    let entry = entry("device.alias", id.text, by: visitor, call, app: app.id)
    router.change(DeviceChange(alias: .clear), of: number, in: app, noting: entry) { result in
      switch result {
      case .success:
        call.redirect(to: "/console/apps/\(app.key.text)/devices/\(id.text)", saying: .aliasTaken)
      case .failure(.unavailable): call.show(Failures.unavailable(call), status: 503)
      case .failure: call.show(Failures.notFound(call), status: 404)
      }
    }
  }
}
