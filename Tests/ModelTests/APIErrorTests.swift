import BorealisBase
import Model
import Testing

@Suite struct APIErrorTests {
  @Test(arguments: [
    (APIError.internalError, 1000, 500), (.onlyPost, 1001, 405), (.missing("x"), 1002, 400),
    (.invalidValue("x"), 1003, 400), (.authenticationFailed, 1004, 401), (.tooLarge("x"), 1005, 400),
    (.appKeyInvalid, 1008, 400), (.unsupportedKey("x"), 1009, 400), (.noTarget, 1011, 400),
    (.overLimit("x"), 1012, 400), (.httpsOnly, 1020, 404), (.timeout, 1030, 503),
    (.activePush("x"), 1035, 400), (.rateExceeded, 2002, 429), (.blacklisted, 2003, 403),
    (.addressRefused, 2004, 403), (.volumeRefused, 2005, 403), (.planTooSmall, 2006, 403),
    (.notPermitted("x"), 2007, 403), (.broadcastLimit, 2008, 403), (.deviceInternalError, 7000, 500),
    (.deviceNoAuthorization, 7001, 401), (.deviceInvalid("x"), 7002, 400),
    (.deviceAuthenticationFailed, 7004, 401), (.deviceAppUnknown, 7008, 400),
    (.devicePartlyInvalid("x"), 7013, 400), (.deviceAliasFull, 7015, 400), (.deviceBusy, 7030, 503),
  ])
  func table(_ error: APIError, _ code: Int, _ status: Int) {
    #expect(error.code == code)
    #expect(error.httpStatus == status)
    #expect(!error.message.isEmpty)
    #expect(error.saying("other") == APIError(code: code, httpStatus: status, message: "other"))
  }

  @Test func bodies() {
    let error = APIError.invalidValue("tag \"a\nb\" is bad")
    #expect(
      String(decoding: error.json(), as: UTF8.self)
        == #"{"error":{"code":1003,"message":"tag \"a\nb\" is bad"}}"#)
    #expect(
      String(decoding: APIError.noTarget.saying("x").json(msgID: MessageID(2_081_584_083)), as: UTF8.self)
        == #"{"msg_id":2081584083,"error":{"code":1011,"message":"x"}}"#)
  }
}
