import BorealisBase
import Foundation
import Model
import Testing

@testable import Channels

/// The registry is the only list of channels: folders and pages agree with it.
@Suite struct ChannelRegistryTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test func `Numbers and names are unique, and no number is used again`() {
    let entries = ChannelRegistry.entries
    for entry in entries { #expect(entry.number == entry.info.id.rawValue, "\(entry.info.name)") }
    let taken = entries.map(\.number) + [ChannelID.passthrough.rawValue]
    #expect(Set(taken).count == taken.count)
    #expect(ChannelRegistry.retired.isDisjoint(with: taken))
    // Every number up to the last was given to a channel: a gap is one that was forgotten.
    #expect(Set(taken).union(ChannelRegistry.retired) == Set(1...(taken.max() ?? 0)))
    #expect(Set(entries.map(\.info.name)).count == entries.count)
  }

  @Test func `A vendor's profile describes the channel of its line`() {
    let vendors = ChannelRegistry.vendors(at: VendorAddresses())
    let entries = ChannelRegistry.entries.filter { $0.vendor != nil }
    #expect(vendors.map(\.info.id) == entries.map(\.info.id))
    for vendor in vendors {
      let profile = vendor.profile
      #expect(!profile.serviceIDs.isEmpty && profile.limits.fewestTokens <= profile.limits.mostTokens)
      #expect((profile.receipts != nil) == vendor.info.abilities.contains(.sendsReceipts))
      #expect(profile.channel.tokens.map(\.number) == [1], "the kit knows one kind of token")
    }
  }

  @Test func `Each folder is a channel of the registry, and each channel has a folder`() throws {
    let sources = Self.root.appending(path: "Sources/Channels")
    let folders = try FileManager.default.contentsOfDirectory(
      at: sources, includingPropertiesForKeys: [.isDirectoryKey]
    ).filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }
    let names = Set(folders.map { $0.lastPathComponent.lowercased() })
    #expect(names.subtracting(["kit", "queue"]) == Set(ChannelRegistry.infos.map(\.name)))
  }

  @Test func `The page about channels has a row for each`() throws {
    let page = try String(contentsOf: Self.root.appending(path: "Docs/channels.md"), encoding: .utf8)
    let table = page.split(separator: "\n", omittingEmptySubsequences: false)
      .drop { !$0.hasPrefix("| channel |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
    let names = table.compactMap { $0.split(separator: "]").first?.dropFirst(3) }.map(String.init)
    #expect(names == ["direct connection"] + ChannelRegistry.infos.map(\.english))
  }
}
