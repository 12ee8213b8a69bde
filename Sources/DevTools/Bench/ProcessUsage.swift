import CLinux
import Glibc

/// What a process uses, from /proc.
enum ProcessUsage {
  /// User memory that belongs to the process alone: resident anonymous pages, in bytes (`Anonymous` of
  /// smaps_rollup). Pages of the program's file and of shared libraries do not count, nor does what the
  /// kernel holds for sockets.
  static func memory(_ process: pid_t) throws(BenchError) -> Int {
    let path = "/proc/\(process)/smaps_rollup"
    for line in try text(of: path).split(separator: "\n") where line.hasPrefix("Anonymous:") {
      if let kibibytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) {
        return kibibytes * 1024
      }
    }
    throw .unexpected("no Anonymous in \(path)")
  }

  /// Processor time that a process has used, in nanoseconds: also of threads that have ended, so that it only
  /// grows.
  static func processorTime(_ process: pid_t) throws(BenchError) -> UInt64 {
    var (clock, time) = (clockid_t(), timespec())
    let number = clock_getcpuclockid(process, &clock)
    guard number == 0 else { throw .system(call: "clock_getcpuclockid", number: number) }
    guard clock_gettime(clock, &time) == 0 else { throw .system(call: "clock_gettime", number: errno) }
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Sum of the sizes of a folder's files, in bytes; folders within it do not count.
  static func size(ofFolder path: String) -> Int {
    names(in: path).reduce(0) { sum, name in
      var status = stat()
      guard stat(path + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return sum }
      return sum + Int(status.st_size)
    }
  }

  static func names(in folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  static func text(of path: String) throws(BenchError) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(call: "open \(path)", number: errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
      let count = cl_read(descriptor, &buffer, buffer.count)
      guard count >= 0 else { throw .system(call: "read \(path)", number: Int32(-count)) }
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<count]
    }
  }
}
