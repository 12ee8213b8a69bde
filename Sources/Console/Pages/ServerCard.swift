import BorealisBase

/// The server and its database on the page of the installation.
struct ServerCard {
  let call: PageCall
  let server: ConsoleServer
  let database: ConsoleDatabase

  var html: HTML {
    """
    <section class="card"><h2>\(call(Words.server))</h2><dl>
    <dt>\(call(Words.nodeVersion))</dt><dd>\(server.version)</dd>
    <dt>\(call(Words.startedAt))</dt><dd>\(call.moment(server.startedAt))</dd>
    <dt>\(call(Words.deviceConnections))</dt><dd>\(Counted.grouped(server.connections()))</dd>
    <dt>\(call(Words.database))</dt><dd>\(database.name)\(
        if: !database.isWritten, " \(call.state(.failed, Words.databaseFails))")</dd>
    \(database.file, { sizes($0) })</dl></section>

    """
  }

  private func sizes(_ file: ConsoleDatabase.File) -> HTML {
    """
    <dt>\(call(Words.databaseSize))</dt><dd>\(Counted.bytes(file.bytes))</dd>
    <dt>\(call(Words.freeSpace))</dt><dd>\(Counted.bytes(file.freeBytes))\(
      if: file.freeBytes < max(file.bytes / 5, 1 << 30), " \(call.state(.warn, Words.littleSpace))")</dd>

    """
  }
}
