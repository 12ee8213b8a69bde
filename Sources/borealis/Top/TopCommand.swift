import BorealisBase
import CLinux
import Glibc

struct TopCommand: Command {
  static let name = "top"
  static let summary = "Shows what the running server does, second by second."
  static let details = """
    Asks the server that runs on the folder for its figures again and again and shows them with what has changed: connections,
    pushes, latency, queues, channels, and the apps with the most pushes and the longest queues. A dash stands for what was not
    observed, such as a rate before there are two answers. "q" ends it. If the input or the output is not a terminal, it prints
    the page anew each time instead.
    """
  static let operands: [String] = []
  static let settings =
    DataFolder.settings + [
      SettingDefinition(
        name: "interval", valueName: "SECONDS", help: "Seconds between two answers: 1 to 60.", default: "2",
        kind: .number(1...60)),
      SettingDefinition(
        name: "once", valueName: "", help: "Prints one page after one interval and ends.", kind: .flag),
    ]

  /// The width of a page that is printed.
  private static let printedColumns = 110

  static func run(_ input: Input) throws(Failure) {
    let folder = try DataFolder(input)
    let seconds = UInt64(input.settings.number("interval") ?? 2)
    let first = try ask(input, folder)
    let isOnce = input.settings.flag("once")
    guard isOnce || !LiveScreen.isPossible else {
      return try live(first, nanoseconds: seconds * 1_000_000_000) { () throws(Failure) in
        try ask(input, folder)
      }
    }
    var (before, now) = (ServerSnapshot?.none, first)
    while true {
      if !isOnce || before != nil {
        let page = TopPage(before: before, now: now).lines(columns: printedColumns)
        Terminal.print(page.joined(separator: "\n") + (isOnce ? "\n" : "\n\n"))
      }
      // The page was printed, or nobody reads any more.
      guard !(isOnce && before != nil), OutputQueue.standardOutput.droppedLines == 0 else { return }
      usleep(UInt32(seconds) * 1_000_000)
      (before, now) = (now, try ask(input, folder))
    }
  }

  private static func ask(_ input: Input, _ folder: DataFolder) throws(Failure) -> ServerSnapshot {
    let answer = try CommandClient.output(of: StatusCommand.self, input, from: folder)
    guard let snapshot = ServerSnapshot(answer) else {
      throw .failed("the server's answer cannot be read: it has another version than this program")
    }
    return snapshot
  }

  /// Draws until the view is ended. A server that is away, as while it is restarted, is asked again.
  private static func live(
    _ first: ServerSnapshot, nanoseconds: UInt64, ask: () throws(Failure) -> ServerSnapshot
  ) throws(Failure) {
    let screen = try LiveScreen()
    var (before, now) = (ServerSnapshot?.none, first)
    var problem: String?
    var due = cl_monotonic_ns() + nanoseconds
    while true {
      let (columns, rows) = screen.size
      let page = TopPage(before: before, now: now).lines(columns: columns, rows: rows)
      screen.draw(problem.map { [TopPage.clipped(Log.visible($0), columns)] } ?? page)
      switch screen.wait(until: due) {
      case .quit: return
      case .resized: continue
      case .due:
        due = cl_monotonic_ns() + nanoseconds
        do throws(Failure) {
          (before, now) = (now, try ask())
          problem = nil
        } catch {
          problem = error.message
        }
      }
    }
  }
}
