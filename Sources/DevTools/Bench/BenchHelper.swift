import CLinux
import Glibc

/// What a copy of the program does for a bench, as its child: not for people.
package enum BenchHelper {
  static let name = "bench-helper"
  static let execute = "execute"
  static let floor = "floor"
  static let apnsLoad = "apns-load"
  static let apnsSink = "apns-sink"
  static let channelLoad = "channel-load"
  static let crowd = "crowd"

  /// Runs a helper if the arguments (without the program's name) ask for one, and returns its exit status.
  package static func run(_ arguments: [String]) -> Int32? {
    guard arguments.first == name, arguments.count >= 2 else { return nil }
    switch arguments[1] {
    case execute: return become(Array(arguments.dropFirst(2)))
    case floor: return FloorServer.run()
    case apnsLoad: return APNsLoad.run(Array(arguments.dropFirst(2)))
    case apnsSink: return APNsSink.run(Array(arguments.dropFirst(2)))
    case channelLoad: return ChannelLoad.run(Array(arguments.dropFirst(2)))
    case crowd: return CrowdHelper.run(Array(arguments.dropFirst(2)))
    default: return 2
    }
  }

  /// Becomes another program that is killed when the bench ends and may open as many files as the bench.
  private static func become(_ words: [String]) -> Int32 {
    guard let program = words.first else { return 2 }
    var limit: UInt64 = 0
    _ = cl_set_nofile_limit(.max, &limit)
    _ = cl_die_with_parent()
    var vector = words.map { strdup($0) } + [nil]
    execvp(program, &vector)
    return errno == ENOENT ? 127 : 126
  }
}
