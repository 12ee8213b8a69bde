import Glibc

// A peer that is gone shows as a failed write.
signal(SIGPIPE, SIG_IGN)
exit(Program.run(Array(CommandLine.arguments.dropFirst())))
