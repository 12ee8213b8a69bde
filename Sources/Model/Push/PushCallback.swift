import BorealisBase

/// What a push says about receipts to the app server.
package struct PushCallback: Equatable, Sendable {
  /// Where receipts of this push go (http or https); nil for the app's own address.
  package var url: String?
  /// A JSON object in UTF-8 that is echoed with each receipt; empty if there is none.
  package var params: [UInt8]
  /// Bits: 1 delivered, 2 clicked, 4 not delivered, 8 handed over; nil for all that the app has switched on.
  package var types: UInt8?

  /// Makes a callback.
  package init(url: String? = nil, params: [UInt8] = [], types: UInt8? = nil) {
    self.url = url
    self.params = params
    self.types = types
  }

  /// Reads the member `callback` of a push object.
  static func parse(_ push: Fields) throws(APIError) -> PushCallback? {
    guard let fields = try push.fields("callback"), !fields.present.isEmpty else { return nil }
    fields.ignoreOthers(than: ["url", "params", "type"])
    var callback = PushCallback()
    if let url = try fields.string("url"), !url.isEmpty {
      guard CallbackAddress(url) != nil else {
        throw fields.invalid("url", "must be an http or https address without user information and fragment")
      }
      callback.url = url
    }
    if let params = try fields.fields("params") {
      callback.params = JSONWriter.serialize(.object(params.object))
      guard callback.params.count <= CallbackEvent.paramsLimit else {
        throw fields.invalid("params", "has more than \(CallbackEvent.paramsLimit) bytes")
      }
    }
    if let types = try fields.integer("type", in: 1...15) {
      callback.types = UInt8(truncatingIfNeeded: types)
    }
    return callback
  }
}
