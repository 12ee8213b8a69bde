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
        try embed(docs(of: package), as: "docs", below: package, in: "EmbeddedDocs.swift", context),
      ]
    default:
      Diagnostics.error("EmbedFiles has nothing for \(target.name)")
      return []
    }
  }

  private func scripts(in folder: URL) throws -> [URL] {
    try files(in: folder).filter { $0.pathExtension == "sql" }
  }

  /// The pages of the documentation with their pictures and data; API has the description of the API.
  private func docs(of package: URL) throws -> [URL] {
    let folder = package.appending(path: "Docs")
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
    guard names.contains("README.md") else {
      Diagnostics.error("Docs has no README.md: the folder of the documentation is not complete")
      return []
    }
    let kinds: Set = ["md", "png", "txt", "json"]
    let pages = names.map { folder.appending(path: $0) }.filter {
      kinds.contains($0.pathExtension) && $0.lastPathComponent != "openapi.json"
    }
    return ["README.md", "CHANGELOG.md"].map { package.appending(path: $0) } + pages
  }

  private func files(in folder: URL) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil, options: .skipsHiddenFiles
    ).sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  private func embed(
    _ files: [URL], as kind: String, below root: URL? = nil, in name: String, _ context: PluginContext
  ) throws -> Command {
    let output = context.pluginWorkDirectoryURL.appending(path: name)
    return .buildCommand(
      displayName: "Embedding \(kind)", executable: try context.tool(named: "embed-files").url,
      arguments: [kind, output.path] + (root.map { [$0.path] } ?? []) + files.map(\.path), inputFiles: files,
      outputFiles: [output])
  }
}
