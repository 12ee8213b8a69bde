import BorealisBase
import Core
import DeviceGateway
import HTTP
import Storage

/// Opens the database of a server that is alone: at its start, and again if another process was to have it
/// and has not taken it.
struct HomeOpening: Sendable {
  let settings: ServeSettings
  let channel: PassthroughChannel
  let metrics: Metrics
  let serverMetrics: ServerMetrics
  let time: SystemTime
  let isReady: ReadyFlag
  let tracer: Tracer?

  /// Reads all into memory. `channels` makes more ways to devices than the usual ones.
  func open(
    _ channels: (Router, Store) -> [any ServiceChannel] = { _, _ in [] }
  ) throws(Failure) -> (HomeService, OpenDatabase?) {
    let (store, _) = try HomeService.openStore(settings, serverMetrics)
    let file = settings.folder.holdsDatabase ? OpenDatabase(settings.folder.file) : nil
    let router = try HomeService.load(settings, store, time, tracer: tracer)
    router.add(channel)
    let service = try HomeService(
      settings, store, router, loop: settings.loops, metrics: metrics, time: time,
      obstacle: { [isReady] in isReady.value ? nil : "draining" }, server: serverMetrics.console(),
      channels: channels)
    return (service, file)
  }
}
