import Model

/// JPush's image API. It serves vendor channels, which Borealis does not have: a push contains the URL of a
/// picture, which each device fetches itself. Media IDs would have no effect, so the calls are refused.
struct ImageController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.push, "POST", "/v3/images/byurls") { $0.refuseImages($1) },
    route(.push, "PUT", "/v3/images/byurls/{media_id}") { $0.refuseImages($1) },
    route(.push, "POST", "/v3/images/byfiles") { $0.refuseImages($1) },
    route(.push, "PUT", "/v3/images/byfiles/{media_id}") { $0.refuseImages($1) },
  ]

  private func refuseImages(_ call: GatewayCall) {
    call.fail(
      .notPermitted("Images are not kept here: name the picture's own address in big_pic_path or large_icon"))
  }
}
