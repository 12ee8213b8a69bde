import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Files of aliases or registration IDs, and pushes to them (JPush REST v3, "file push").
struct FileController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.file, "POST", "/v3/files/alias", by: .both, body: .file) { $0.upload($1, .aliases) },
    route(.file, "POST", "/v3/files/registration_id", by: .both, body: .file) {
      $0.upload($1, .registrationIDs)
    },
    route(.file, "GET", "/v3/files", by: .both) { $0.listFiles($1) },
    route(.file, "GET", "/v3/files/{file_id}", by: .both) { $0.showFile($1) },
    route(.file, "DELETE", "/v3/files/{file_id}", by: .both) { $0.deleteFile($1) },
  ]

  // MARK: Uploads

  /// `POST /v3/files/alias` and `/v3/files/registration_id`.
  private func upload(_ call: GatewayCall, _ kind: FileKind) {
    guard let owner = call.backgroundOwner,
      gateway.uploads.run(for: owner, { [self] in read(call, kind) })
    else { return call.fail(.timeout) }
  }

  private func read(_ call: GatewayCall, _ kind: FileKind) {
    guard let owner = call.owner?.text else { return }
    let (file, hours): (NewFile, Int64)
    do throws(APIError) {
      (file, hours) = try newFile(call, kind, owner)
    } catch {
      call.fail(error)
      return
    }
    router.files.store(file, for: hours * 3600) { [gateway] failure in
      switch failure {
      case nil:
        gateway.storedFiles.add()
        gateway.storedValues.add(UInt64(file.count))
        call.answer(200, Self.json { $0.member("file_id", file.fileID) })
      case .tooMany: call.fail(.overLimit("The app has 20 files; delete one or wait until one ends"))
      case .unavailable: call.fail(.timeout)
      }
    }
  }

  /// The validated file of a form, and its lifetime in hours.
  private func newFile(
    _ call: GatewayCall, _ kind: FileKind, _ owner: String
  ) throws(APIError) -> (NewFile, hours: Int64) {
    let body = call.request.body
    let form = try Self.form(call)
    guard let part = form.parts.first(where: { $0.name == "filename" }) else {
      throw .missing("Missing parameter: filename")
    }
    guard part.content.count <= limits.fileBytes else {
      throw .tooLarge("The file has more than \(limits.fileBytes) bytes")
    }
    let ttl = form.parts.first { $0.name == "ttl" }.map { String(decoding: body[$0.content], as: UTF8.self) }
    guard let hours = Int64(ttl.flatMap { $0.isEmpty ? nil : $0 } ?? call.query("ttl") ?? "720"),
      (1...720).contains(hours)
    else {
      throw .invalidValue("ttl must be 1 to 720, in hours")
    }
    let lines: FileLines
    do throws(FileLines.Fault) {
      lines = try FileLines(body[part.content], kind: kind, allowHyphen: limits.rules.allowHyphen)
    } catch {
      throw error.complaint(kind)
    }
    let name = String(String.UnicodeScalarView((part.fileName ?? "").unicodeScalars.prefix(100)))
    return (
      NewFile(
        owner: owner, fileID: "\(owner)-\(Gateway.uuid())", kind: kind, name: name, count: lines.count,
        pieces: lines.pieces), hours
    )
  }

  private static func form(_ call: GatewayCall) throws(APIError) -> MultipartForm {
    let form: MultipartForm
    do throws(MultipartFault) {
      form = try MultipartForm(
        contentType: call.request.headers["content-type"] ?? "", body: call.request.body)
    } catch {
      let complaint =
        error == .notMultipart ? "is not multipart/form-data" : "is malformed as multipart/form-data"
      throw .invalidValue("The body \(complaint)")
    }
    var names: Set<String> = []
    for part in form.parts {
      guard ["filename", "ttl"].contains(part.name) else {
        throw .unsupportedKey("\(part.name.prefix(64)) is not supported")
      }
      guard names.insert(part.name).inserted else { throw .invalidValue("\(part.name) is given twice") }
    }
    return form
  }

  // MARK: What is there

  /// `GET /v3/files`.
  private func listFiles(_ call: GatewayCall) {
    guard let owner = call.owner?.text else { return }
    let (zone, hasExtensions) = (router.zone, call.request.wantsExtensions)
    router.files.list(of: owner) { result in
      guard case .success(let files) = result else { return call.fail(.timeout) }
      let json = Self.json { writer in
        writer.member("total_count", files.count)
        writer.key("files")
        writer.beginArray()
        for file in files { Self.write(file, in: zone, hasExtensions, to: &writer) }
        writer.endArray()
      }
      call.answer(200, json)
    }
  }

  /// `GET /v3/files/{file_id}`.
  private func showFile(_ call: GatewayCall) {
    guard let owner = call.owner?.text else { return }
    let (zone, hasExtensions) = (router.zone, call.request.wantsExtensions)
    router.files.find(call.captures["file_id"] ?? "", of: owner) { result in
      switch result {
      case .failure: call.fail(.timeout)
      case .success(nil):
        call.fail(.invalidValue("file_id is unknown: there is no such file, or it has expired"))
      case .success(let file?):
        var writer = JSONWriter()
        Self.write(file, in: zone, hasExtensions, to: &writer)
        call.answer(200, writer.bytes)
      }
    }
  }

  /// `DELETE /v3/files/{file_id}`; an unknown file is no error.
  private func deleteFile(_ call: GatewayCall) {
    guard let owner = call.owner?.text else { return }
    router.files.end(call.captures["file_id"] ?? "", of: owner) { result in
      if case .success = result { call.answerEmpty() } else { call.fail(.timeout) }
    }
  }

  private static func write(
    _ file: FileRow, in zone: any Zone, _ hasExtensions: Bool, to writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.member("file_id", file.fileID)
    writer.member("type", file.kind == .aliases ? "alias" : "registration_id")
    writer.member("file_name", file.name)
    writer.member("create_time", zone.local(file.createdAt).text)
    writer.member("expire_time", zone.local(file.expiresAt).text)
    if hasExtensions { writer.member("count", file.count) }
    writer.endObject()
  }
}

extension FileLines.Fault {
  private static func rule(_ kind: FileKind) -> String {
    switch kind {
    case .aliases:
      "alias: 1 to 40 characters of letters, digits, Chinese characters and _ @ ! # $ & * + = . | ￥"
    case .registrationIDs: "registration ID: 19 hexadecimal digits in lower case"
    }
  }

  fileprivate func complaint(_ kind: FileKind) -> APIError {
    switch self {
    case .notText: .invalidValue("The file is not in UTF-8")
    case .badLine(let number):
      .invalidValue("Line \(number) of the file is not a valid \(Self.rule(kind))")
    case .empty: .missing("Missing parameter: the file has no value")
    case .tooMany: .invalidValue("The file has more than \(FileLines.maximumValues) values")
    }
  }
}
