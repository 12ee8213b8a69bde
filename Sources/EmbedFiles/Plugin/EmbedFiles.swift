// PackagePlugin hands out URLs, which only Foundation can open up; the plugin is no part of the program.
import Foundation
import PackagePlugin

/// Turns files outside of `Sources` into Swift files of the targets that use the plugin, and again whenever
/// one of them changes: the program is one file, and what people read is also what it serves.
@main struct EmbedFiles: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let package = context.package.directoryURL
    switch target.name {
    case "Storage":
      let folder = package.appending(path: "Migrations")
      return [
        try embed(try scripts(in: folder), as: "migrations", in: "EmbeddedMigrations.swift", context),
        try embed(
          try scripts(in: folder.appending(path: "postgres")), as: "postgres-migrations",
          in: "EmbeddedPostgresMigrations.swift", context),
      ]
    case "API":
      let file = package.appending(path: "Docs/api/openapi.json")
      return [try embed([file], as: "document", in: "EmbeddedDocument.swift", context)]
    case "Console":
      let files = try self.files(in: package.appending(path: "Sources/Console/Assets"))
      let web = try self.files(in: package.appending(path: "Sources/web"))
      return [
        try embed(files, as: "files", in: "EmbeddedFiles.swift", context),
        try embed(
          web + [package.appending(path: "LICENSE")], as: "web-files", in: "EmbeddedWebFiles.swift", context),
      ]
    default:
      Diagnostics.error("EmbedFiles has nothing for \(target.name)")
      return []
    }
  }

  private func scripts(in folder: URL) throws -> [URL] {
    try files(in: folder).filter { $0.pathExtension == "sql" }
  }

  private func files(in folder: URL) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil, options: .skipsHiddenFiles
    ).sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  private func embed(
    _ files: [URL], as kind: String, in name: String, _ context: PluginContext
  ) throws -> Command {
    let output = context.pluginWorkDirectoryURL.appending(path: name)
    return .buildCommand(
      displayName: "Embedding \(kind)", executable: try context.tool(named: "embed-files").url,
      arguments: [kind, output.path] + files.map(\.path), inputFiles: files, outputFiles: [output])
  }
}
