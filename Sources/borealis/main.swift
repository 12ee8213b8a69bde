import Glibc
import PushBench

// A peer that is gone shows as a failed write.
signal(SIGPIPE, SIG_IGN)
let arguments = Array(CommandLine.arguments.dropFirst())
exit(BenchHelper.run(arguments) ?? Program.run(arguments))
