import Glibc
import PushBench
import PushCrypto

// A peer that is gone shows as a failed write.
signal(SIGPIPE, SIG_IGN)
// So does that a file may not become larger (`ulimit -f`, LimitFSIZE).
signal(SIGXFSZ, SIG_IGN)
CryptoLibrary.keepUntilExit()
let arguments = Array(CommandLine.arguments.dropFirst())
exit(BenchHelper.run(arguments) ?? Program.run(arguments))
