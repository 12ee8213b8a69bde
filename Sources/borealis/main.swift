import BorealisCrypto
import Glibc

// What is closed here would be the number of the next file or connection, and the log would be written into
// it.
repeat {
  let descriptor = open("/dev/null", O_RDWR)
  guard (0...STDERR_FILENO).contains(descriptor) else {
    close(descriptor)
    break
  }
} while true
// A peer that is gone shows as a failed write.
signal(SIGPIPE, SIG_IGN)
// So does that a file may not become larger (`ulimit -f`, LimitFSIZE).
signal(SIGXFSZ, SIG_IGN)
CryptoLibrary.keepUntilExit()
let arguments = Array(CommandLine.arguments.dropFirst())
let status = Program.run(arguments)
Terminal.flush()
exit(status)
