import BorealisBase
import BorealisDevice
import BorealisProtocol
import Foundation

// An app for KillTests: many devices that note each push they show in a file, with their number, and do not
// show one again that is in the file and was redelivered. Prints "NUMBER ID" for each device that has a
// registration. A line on standard input says that the network has changed. Arguments: the server, the app
// key, a folder, the number of devices.

guard CommandLine.arguments.count == 5, let server = ServerAddress(CommandLine.arguments[1]),
  let appKey = AppKey(CommandLine.arguments[2]), let count = Int(CommandLine.arguments[4])
else { exit(2) }
let folder = CommandLine.arguments[3]
let path = folder + "/shown"
let known = Set(
  String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    .split(separator: "\n"))
let shown = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)

/// One write, which survives the process, and which no other one can tear.
@Sendable func write(_ line: String, to file: Int32) {
  let bytes = Array("\(line)\n".utf8)
  guard Glibc.write(file, bytes, bytes.count) == bytes.count else { exit(3) }
}

var devices: [Device] = []
for number in 0..<count {
  let device = Device(
    DeviceConfiguration(
      server: server, security: .plain, statePath: "\(folder)/state-\(number)",
      profile: DeviceProfile(appKey: appKey, platform: .ios, appState: .foreground)))
  Task.detached { [shown] in
    for await event in device.events {
      switch event {
      case .registered(let id): write("\(number) \(id.text)", to: STDOUT_FILENO)
      case .push(let push):
        let line = "\(number) \(push.messageID.text)"
        if !push.isRedelivered || !known.contains(Substring(line)) { write(line, to: shown) }
        device.handled(push.messageID)
      default: break
      }
    }
  }
  try device.start()
  if let id = device.registrationID { write("\(number) \(id.text)", to: STDOUT_FILENO) }
  devices.append(device)
}
while readLine() != nil { for device in devices { device.networkChanged() } }
