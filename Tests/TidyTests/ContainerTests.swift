import Testing

/// The files in `docker`.
@Suite struct ContainerTests {
  /// The base images of the Dockerfile, by the argument that names each.
  private static func images() throws -> [String: String] {
    var images: [String: String] = [:]
    for line in try Repository.text("docker/Dockerfile").split(separator: "\n") {
      // Only arguments before the first stage are seen by FROM.
      if line.hasPrefix("FROM ") { break }
      guard let match = line.wholeMatch(of: /ARG (\w+_IMAGE)=(\S+)/) else { continue }
      images[String(match.output.1)] = String(match.output.2)
    }
    return images
  }

  @Test func `Each base image can be named by digest`() throws {
    let images = try Self.images()
    let stages = try Repository.text("docker/Dockerfile").split(separator: "\n").filter {
      $0.hasPrefix("FROM ")
    }
    #expect(stages.count == 2 && images.count == 2)
    for stage in stages {
      let match = try #require(stage.firstMatch(of: /^FROM \$\{(\w+)\}( AS \w+)?$/), "\(stage)")
      let image = try #require(images[String(match.output.1)], "\(stage)")
      // Not whatever is newest: a release, or a digest.
      #expect(image.contains(/:\d+\.\d+|@sha256:[0-9a-f]{64}/), "\(image)")
    }
  }

  @Test(arguments: ["docker/compose.yaml", "docker/compose.cluster.yaml"])
  func `Compose builds from the same images, or from those that the environment names`(file: String) throws {
    let text = try Repository.text(file)
    for (argument, image) in try Self.images() {
      #expect(text.contains("        \(argument): ${BOREALIS_\(argument):-\(image)}\n"), "\(argument)")
    }
  }

  @Test func `The image and the packages have the same program`() throws {
    #expect(try Repository.text("docker/Dockerfile").contains("\nRUN docker/program /borealis\n"))
    #expect(try Repository.text("docker/debian/release").contains("\ndocker/program "))
    // Nothing else in the folder is for the image's build.
    #expect(try Repository.text(".dockerignore").contains("\n/docker\n!/docker/program\n"))
    // The program shows its documentation: all of it is part of the build.
    #expect(try !Repository.text(".dockerignore").contains("Docs"))
  }

  @Test func `The page on operations pins these images`() throws {
    let page = try Repository.text("Docs/operations/install.md")
    for (argument, image) in try Self.images() {
      #expect(page.contains("BOREALIS_\(argument)=$(pin \(image))"), "\(argument)")
      #expect(page.contains("--build-arg \(argument)=\"$BOREALIS_\(argument)\""), "\(argument)")
    }
  }
}
