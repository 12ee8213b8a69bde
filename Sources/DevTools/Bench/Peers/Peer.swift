/// The servers that Borealis is compared with.
enum Peer: String, CaseIterable {
  /// The kernel's floor: see `FloorServer`.
  case floor
  case mosquitto
  case redis
  case nats

  /// Starts the server on a free port with a configuration of its own, and without anything on disk.
  func start(
    _ environment: BenchEnvironment, receivers: Int, subscribes: Bool = true
  ) throws(BenchError) -> SystemUnderTest {
    if self == .floor { return try startFloor(environment, receivers: receivers) }
    let endpoint = try Endpoint.free()
    let server = try launch(environment, endpoint)
    guard endpoint.waitUntilOpen(seconds: 10) else {
      throw server.waitForEnd(seconds: 0) ? .notInstalled(rawValue) : .timedOut("\(rawValue) starts")
    }
    let driver: any PubSubDriver =
      switch self {
      case .mosquitto: MQTTDriver(receivers: receivers, subscribes: subscribes)
      case .redis: RedisDriver(receivers: receivers, subscribes: subscribes)
      case .nats, .floor: NATSDriver(receivers: receivers, subscribes: subscribes)
      }
    return SystemUnderTest(name: rawValue, server: server, endpoint: endpoint, driver: driver)
  }

  private func launch(_ environment: BenchEnvironment, _ endpoint: Endpoint) throws(BenchError)
    -> ServerProcess
  {
    let port = endpoint.port
    switch self {
    case .mosquitto:
      let text = """
        listener \(port) 127.0.0.1
        allow_anonymous true
        user root
        persistence false
        log_dest none
        set_tcp_nodelay true

        """
      let file = try environment.workspace.write("mosquitto.conf", text)
      return try environment.start("mosquitto", ["-c", file])
    case .redis:
      let text = """
        bind 127.0.0.1
        port \(port)
        maxclients 19900
        save ""
        appendonly no
        tcp-backlog 4096
        client-output-buffer-limit pubsub 0 0 0
        dir \(environment.workspace.path)

        """
      let file = try environment.workspace.write("redis.conf", text)
      return try environment.start("redis-server", [file])
    case .nats, .floor:
      return try environment.start("nats-server", ["-a", "127.0.0.1", "-p", "\(port)"])
    }
  }

  private func startFloor(
    _ environment: BenchEnvironment, receivers: Int
  ) throws(BenchError) -> SystemUnderTest {
    let server = try environment.start(environment.executable, [BenchHelper.name, BenchHelper.floor])
    guard let port = UInt16(try server.readLine(seconds: 10)) else {
      throw .unexpected("the floor says no port")
    }
    return SystemUnderTest(
      name: rawValue, server: server, endpoint: Endpoint(port: port),
      driver: FloorDriver(receivers: receivers))
  }
}
