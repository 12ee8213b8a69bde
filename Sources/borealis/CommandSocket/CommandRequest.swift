import BorealisBase

/// A command as a server is given it: its name, its operands, and its settings as its own process has read
/// them, with secrets out of files and variables. A server never logs more of it than the name.
struct CommandRequest {
  let command: String
  let operands: [String]
  let settings: [(name: String, value: String)]

  /// Of a command of this process. Where the database is the server knows.
  init(_ command: any ServedCommand.Type, _ input: Input) {
    self.command = command.name
    operands = input.operands
    let place = DataFolder.settings.map(\.name)
    settings = command.settings.compactMap { definition in
      guard !place.contains(definition.name), let value = input.settings.text(definition.name) else {
        return nil
      }
      // The server has another working folder.
      let isPath = definition.name == SecretKeyFile.setting.name
      return (definition.name, isPath ? SecretKeyFile(path: value).absolutePath : value)
    }
  }

  /// Nil for what is not a request.
  init?(_ bytes: [UInt8]) {
    guard let object = (try? parseJSON(bytes))?.object, let command = object["command"]?.string,
      let operands = object["operands"]?.array, let settings = object["settings"]?.object
    else { return nil }
    self.command = command
    self.operands = operands.compactMap(\.string)
    self.settings = settings.members.compactMap { member in
      member.value.string.map { (member.key, $0) }
    }
  }

  /// Whether the command was given a file of this name. A server may be another user's than its command's
  /// process, and gets no others.
  func names(file: String) -> Bool {
    operands.contains(file) || settings.contains { $0.value == file }
  }

  var bytes: [UInt8] {
    var values = JSONObject()
    for (name, value) in settings { values.set(name, .string(value)) }
    var object = JSONObject()
    object.set("command", .string(command))
    object.set("operands", .array(operands.map { .string($0) }))
    object.set("settings", .object(values))
    return JSONWriter.serialize(.object(object))
  }
}
