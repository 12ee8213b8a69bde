import DevTools
import Glibc

// A peer that is gone shows as a failed write. `_exit` leaves out the handlers of `exit`, which tear down
// what other threads still use.
signal(SIGPIPE, SIG_IGN)
_exit(SimulatorProgram.main(Array(CommandLine.arguments.dropFirst())))
