import PushDomain

/// JPush's image API. It serves vendors' channels, which are not there: pushes name a picture by its address, which each
/// device fetches itself. A media ID would be a promise that nobody keeps, so the calls are refused.
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
