import BorealisBase

/// The A/B test that a push object names as its audience.
package struct ABTestUse: Equatable, Sendable {
  /// The number of the test.
  package let id: Int64
  /// The test as it was when the push object was read.
  package let design: ABTestDesign
  /// The push with each of its contents, in their order.
  package let contents: [PushRequest]
  /// The push object as it was sent, JSON in UTF-8: the winner is made of it.
  package let object: [UInt8]
}

extension PushRequest {
  /// Reads a push object whose audience is an A/B test: the push with the first of its contents, which has
  /// those with the others in `abTest`.
  static func parse(
    _ push: Fields, ofTest id: Int64, _ platforms: PlatformSet, _ rules: PushRules
  ) throws(APIError) -> PushRequest {
    guard let design = rules.abTest?(id) else {
      throw push.invalid("audience.abtest", "holds '\(id)': there is no such A/B test")
    }
    for key in ["template", "languages", "live_activity"] where push.wish(key) != nil {
      throw push.invalid(key, "does not go with audience.abtest")
    }
    var contents: [PushRequest] = []
    for (place, content) in design.contents.enumerated() {
      let object = content.applied(to: push.object, values: [:])
      var request: PushRequest
      do throws(APIError) {
        request = try parse(Fields(object, ignored: push.ignored), platforms, design.audience, rules)
      } catch {
        throw error.saying("content \(place + 1) of the A/B test: \(error.message)")
      }
      if let complaint = request.options.complaintOfABTest {
        throw .invalidValue("\(complaint) does not go with audience.abtest")
      }
      request.resolved = JSONWriter.serialize(.object(object))
      if place > 0 { request.cid = nil }
      contents.append(request)
    }
    guard var request = contents.first else { throw .internalError }
    request.abTest = ABTestUse(
      id: id, design: design, contents: contents, object: JSONWriter.serialize(.object(push.object)))
    return request
  }
}

extension PushOptions {
  /// An option that makes no sense for several pushes; nil for none.
  fileprivate var complaintOfABTest: String? {
    if overrideMessageID != nil { return "options.override_msg_id" }
    if bigPushDuration > 0 { return "options.big_push_duration" }
    if encryption != nil { return "options.encryption" }
    if canary != nil { return "options.canary" }
    return nil
  }
}
