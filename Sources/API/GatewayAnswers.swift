import BorealisBase
import Core
import HTTP
import Model

extension HTTPRequest {
  /// Whether the caller asks for members of Borealis' own in answers on vendors' paths: some clients fail at
  /// unknown members.
  package var wantsExtensions: Bool { headers["x-borealis-extensions"] == "1" }
}

/// Parts of the answers of several APIs.
extension GatewayController {
  /// An object with the members that a closure writes.
  static func json(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    members(&writer)
    writer.endObject()
    return writer.bytes
  }

  /// `{"code":0,"message":"success","data":{…}}`.
  static func coded(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
    json { writer in
      writer.member("code", 0)
      writer.member("message", "success")
      writer.key("data")
      writer.beginObject()
      members(&writer)
      writer.endObject()
    }
  }
}

/// A part of a list, by the query's `page` and `page_size`.
struct ListPage: Sendable {
  let number: Int
  let size: Int

  var offset: Int { (number - 1) * size }

  /// Answers the request itself when they are out of range: 1 to a million, and 1 to 1000.
  init?(_ call: GatewayCall, size standard: Int) {
    guard let number = call.query("page").map({ Int($0) }) ?? 1, (1...1_000_000).contains(number),
      let size = call.query("page_size").map({ Int($0) }) ?? standard, (1...1000).contains(size)
    else {
      let given = ["page", "page_size"].compactMap { name in
        call.query(name).map { "\(name)=\($0.prefix(20))" }
      }
      call.fail(
        call.api.faults.invalid(
          "page must be from 1 on, page_size 1 to 1000, not \(given.joined(separator: " and "))"))
      return nil
    }
    self.number = number
    self.size = size
  }

  func write(total: Int, to writer: inout JSONWriter) {
    writer.member("total", total)
    writer.member("page", number)
    writer.member("page_size", size)
  }
}

extension GatewayCall {
  /// Answers with the body that `body` writes for a success, or with the error.
  func finish<Value>(_ result: Result<Value, APIError>, _ body: (Value, inout JSONWriter) -> Void) {
    switch result {
    case .failure(let error): fail(error)
    case .success(let value):
      var writer = JSONWriter()
      body(value, &writer)
      answer(200, writer.bytes)
    }
  }

  /// Answers with an empty object for a success, or with the error.
  func finish(_ result: Result<Void, APIError>) {
    switch result {
    case .failure(let error): fail(error)
    case .success: answerEmpty()
    }
  }
}

/// What calls say of things that an app keeps under names.
extension GatewayCall {
  /// The number in the path of such a thing; answers the request itself if it is not a number.
  func number(of kind: String) -> Int64? {
    let text = captures["\(kind)_id"] ?? ""
    guard let id = Int64(text) else {
      fail(.invalidValue("The app has no \(kind) '\(text.prefix(40))'"))
      return nil
    }
    return id
  }

  /// The name in the body, and what `parse` makes of the rest; answers the request itself when they are
  /// invalid.
  func named<Content>(
    _ parse: (JSONObject) throws(APIError) -> Content
  ) -> (name: String, Content)? {
    guard let json = body() else { return nil }
    do throws(APIError) {
      guard var object = json.object else { throw .invalidValue("The body must be a JSON object") }
      let name = try ThingName.remove(from: &object)
      return (name, try parse(object))
    } catch {
      fail(error)
      return nil
    }
  }
}
