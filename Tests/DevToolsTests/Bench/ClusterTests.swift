import BorealisBase
import BorealisCrypto
import Testing

@testable import DevTools

/// Several apps on several nodes: who has which registrations, and when a measurement may begin.
@Suite struct ClusterTests {
  @Test(arguments: [(10, 1), (10, 3), (4000, 4), (2, 4)])
  func appsHaveAllRegistrationsInTurn(_ count: Int, _ apps: Int) {
    let population = Population(count: count, apps: apps)
    let parts = (0..<apps).map { population.numbers(of: $0) }
    #expect(parts.flatMap { $0 }.sorted() == Array(0..<count))
    for (app, numbers) in parts.enumerated() {
      #expect(numbers.allSatisfy { population.app(of: $0) == app })
    }
    let sizes = parts.map(\.count)
    #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1)
  }

  @Test func aNodeSaysOfHowManyAppsItIsTheHome() {
    #expect(BenchCluster.homeCount(in: "ready\nhome of 12 apps\ninstallation at n1\n") == 12)
    #expect(BenchCluster.homeCount(in: "ready\nhome of 0 apps\n") == 0)
    for text in ["ready\ngateway of n1\n", "ready\nhome\n", "no node is the home\n", ""] {
      #expect(BenchCluster.homeCount(in: text) == nil)
    }
  }

  @Test(arguments: [
    ([4], 4, 1, true), ([2, 2], 4, 2, true), ([3, 2], 5, 2, true), ([0, 1, 1], 2, 3, true),
    ([4, 0], 4, 2, false), ([3, 1], 4, 2, false), ([2, 1], 4, 2, false), ([2, 2], 4, 3, false),
    ([], 4, 2, false),
  ])
  func appsAreDividedWhenNoNodeHasTwoMore(_ homes: [Int], _ apps: Int, _ nodes: Int, _ isDivided: Bool) {
    #expect(BenchCluster.isDivided(apps, among: homes, nodes) == isDivided)
  }

  /// What a socket that nobody reads from would have been sent.
  private func credentials(_ requests: [[UInt8]]) -> [Substring?] {
    requests.map { request in
      String(decoding: request, as: UTF8.self).split(separator: "\r\n").first {
        $0.hasPrefix("Authorization")
      }
    }
  }

  @Test func eachDeviceIsPostedToWithTheCredentialsOfItsApp() {
    let apps = ["first", "second"].map { BorealisApp(key: .random(), secret: $0, folder: "") }
    let population = Population(count: 4, apps: 2)
    let sender = LoadSender(apps: apps)
    let driver = BorealisDriver(receivers: 4, appKeys: apps.map(\.key), sender: sender)
    for number in 0..<3 {
      driver.adopt(number, population.id(number), population.secret, app: population.app(of: number))
    }
    // The fourth has not registered.
    let requests = driver.requests(Array("x".utf8))
    let expected = [0, 1, 0].map { index in
      "Authorization: Basic "
        + Base64.encode(Array("\(apps[index].key.text):\(apps[index].secret)".utf8))
    }
    #expect(credentials(requests).map { $0.map(String.init) } == expected)
    for (number, request) in requests.enumerated() {
      #expect(String(decoding: request, as: UTF8.self).contains(population.id(number).text))
    }
  }
}
