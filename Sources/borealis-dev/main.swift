import DevTools
import Glibc

// A peer that is gone shows as a failed write.
signal(SIGPIPE, SIG_IGN)
let arguments = Array(CommandLine.arguments.dropFirst())
let tools: [any Tool.Type] = [APNsSimulatorTool.self, ChannelSimulatorTool.self, BenchTool.self]
// `_exit` leaves out the handlers of `exit`, which tear down what other threads still use.
_exit(BenchHelper.run(arguments) ?? ToolProgram.run(arguments, tools))
