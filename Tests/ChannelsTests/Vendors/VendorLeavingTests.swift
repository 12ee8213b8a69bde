import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Channels
@testable import Core

/// Apps that leave this home, for another one or for good.
@Suite struct VendorLeavingTests {
  /// Otherwise its dispatcher stays, and sends what another home sends too.
  @Test(arguments: [false, true])
  func `An app that leaves while its credential is taken over keeps no dispatcher`(isDeleted: Bool)
    async throws
  {
    let scene = try await VendorScene { _ in .status(200) }
    defer { scene.end() }
    let (channel, app, apps) = (scene.channel, scene.app, scene.router.apps)
    // Another process replaces the credential, which is read, and not in use yet.
    let new = VendorUpload(subject: "s", name: "", secret: [2]).credential(
      for: app.id, of: ScriptedVendor.channel.id, sealedWith: try scene.parts.keys.open().get())
    let now = scene.clock.now()
    _ = try await scene.parts.store.change { t throws(StorageError) in
      try t.credentials.replace(app: app.id, new, at: now)
    }
    try await awaitCallback { done in channel.table.refresh { done($0) } }.get()
    scene.moments.interruption.prepareBeside {
      _ = apps.table.unload(app.key)
      if isDeleted { channel.forget(app) } else { channel.release(app) }
    }
    channel.applyChanges()
    #expect(scene.moments.interruption.wait())
    #expect(channel.dispatchers(of: app.id).map(\.id) == [])
  }
}
