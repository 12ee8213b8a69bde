import API
import BorealisBase
import Console
import HTTP

/// What a request asks for, whichever API it belongs to.
enum ServedAPIs {
  /// The answer to a request that is not served, in the form of its API.
  static func refusal(_ fault: HTTPFault, of target: String) -> HTTPResponse {
    WebConsole.refusal(fault, of: target) ?? GetuiAPI.refusal(fault, of: target)
      ?? AutopushAPI.refusal(fault, of: target) ?? Gateway.refusal(fault)
  }

  /// The app or the group of apps whose home serves a request; nil if that of the installation does.
  /// `browsers` is the app whose devices browsers are, if one is.
  static func app(of request: HTTPRequest, browsers: AppKey?) -> AppKey? {
    if let browsers, AutopushAPI.serves(request.target) { return browsers }
    if WebConsole.serves(request.target) { return WebConsole.app(of: request) }
    return GetuiAPI.serves(request.target) ? GetuiAPI.app(of: request) : Gateway.app(of: request)
  }
}
