import Testing

/// What `docker` makes of the program: packages, and a service of Kubernetes. `make test-packages` installs
/// the packages.
@Suite(
  .enabled(
    if: PythonClient.canRun && !RunningProgram.isSanitized,
    "python3 is missing or older than 3.11, or the program is not as it is packaged"))
struct PackagingTests {
  @Test(.enabled(if: PythonClient.hasSPDX, "the Python package spdx-tools is missing"))
  func `Packages are the same each time, complete and signed`() throws {
    try play("package.py", lines: 6)
  }

  @Test(
    .enabled(if: PythonClient.hasKubernetes, "kubectl or the Python package kubernetes-validate is missing"))
  func `The manifests for Kubernetes fit each other, the image and the program`() throws {
    try play("kubernetes.py", lines: 2)
  }

  private func play(_ script: String, lines: Int) throws {
    let ending = try PythonClient.run(script, in: "Packages", ["--binary", RunningProgram.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.split(separator: "\n").count { $0.hasPrefix("ok - ") } == lines)
  }
}
