import API
import BorealisBase
import BorealisCrypto
import BorealisNet
import Channels
import Console
import Core
import HTTP
import Storage

/// A channel whose connections to its service are on an event loop of the server's.
protocol LoopChannel: ServiceChannel {
  /// Lets connections run on a loop. On the loop's thread, before `start`.
  func add(_ loop: EventLoop, _ time: any TimeSource)
}

extension APNsChannel: LoopChannel {
  func add(_ loop: EventLoop, _ time: any TimeSource) { add(HTTP2Driver(loop: loop, time: time).address) }
}

/// The parts that seal and open secrets, or send mail.
extension HomeService {
  static func apnsChannel(
    _ settings: ServeSettings, _ router: Router, _ store: Store, _ metrics: Metrics, _ time: SystemTime
  ) -> APNsChannel {
    let site = settings.mail.server == nil ? nil : settings.mail.site
    return APNsChannel(
      router: router, store: store, hosts: settings.apnsHosts, keys: credentialKeys(settings),
      reminders: ExpiryReminders(
        store: store, site: site, zone: settings.zone, time: time, log: settings.log),
      metrics: metrics,
      time: time, log: settings.log)
  }

  static func vendorParts(
    _ settings: ServeSettings, _ router: Router, _ store: Store, _ transport: HTTPTransport,
    _ metrics: Metrics, _ time: SystemTime
  ) -> VendorParts {
    VendorParts(
      router: router, store: store, transport: transport, keys: credentialKeys(settings), metrics: metrics,
      site: settings.mail.site, time: time, log: settings.log)
  }

  /// The file is read whenever a credential is opened, so that a corrected one works immediately.
  private static func credentialKeys(_ settings: ServeSettings) -> CredentialKeys {
    let keyFile = settings.secretKeyFile
    return CredentialKeys(
      open: {
        do throws(Failure) { return .success(try keyFile.read()) } catch {
          return .failure(.init(error.message))
        }
      },
      seal: { keysInUse in
        do throws(Failure) { return .success(try keyFile.readOrMake(inUse: keysInUse)) } catch {
          return .failure(.init(error.message))
        }
      })
  }

  static func mailer(
    _ settings: ServeSettings, _ store: Store, _ metrics: Metrics, _ time: SystemTime
  ) -> Mailer? {
    // There also where no mail is sent, as all metrics are.
    let mailMetrics = MailMetrics(metrics)
    return settings.mail.server.map {
      Mailer(store: store, server: $0, metrics: mailMetrics, time: time, log: settings.log)
    }
  }

  static func console(
    _ settings: ServeSettings, _ router: Router, _ store: Store, _ gateway: Gateway,
    _ mailer: Mailer?, _ time: SystemTime, _ server: ConsoleServer
  ) throws(Failure) -> WebConsole {
    let keyFile = settings.secretKeyFile
    var provider: SignOnProvider?
    if let signOn = settings.signOn {
      provider = SignOnProvider(
        signOn.options, proxy: settings.proxy, authorities: signOn.authorities, time: time, log: settings.log)
      guard provider != nil else {
        throw .failed("cannot start the thread that sends to the identity provider")
      }
    }
    var server = server
    server.servesDocs = settings.servesDocs
    return WebConsole(
      router: router, store: store, gateway: gateway, time: time, log: settings.log,
      mail: ConsoleMail(
        site: settings.mail.site,
        reserve: mailer.map { mailer in { @Sendable account in place(of: account, mailer) } }),
      secrets: PersonSecrets(
        seal: { secret, person, keysInUse in
          try? keyFile.readOrMake(inUse: keysInUse).seal(secret, for: .oneTimePasswords(of: person))
        },
        open: { sealed, person in try? keyFile.read().open(sealed, for: .oneTimePasswords(of: person)) }),
      provider: provider,
      devicePorts: DevicePorts(tls: settings.device?.port, plain: settings.devicePlain?.port), server: server,
      database: { [folder = settings.folder, store] in
        ConsoleDatabase(
          name: folder.holdsDatabase ? "SQLite" : "PostgreSQL", file: folder.fileSizes,
          isWritten: store.failure == nil)
      })
  }

  /// A place for a mail, which goes with the function.
  private static func place(of account: AccountID?, _ mailer: Mailer) -> ConsoleMail.Send? {
    guard let place = mailer.reserve(of: account) else { return nil }
    return { mail, progress in place.send(mail, progress: progress) }
  }

  static func getui(
    _ settings: ServeSettings, _ router: Router, _ store: Store, _ gateway: Gateway, _ time: SystemTime
  ) -> GetuiAPI {
    let keyFile = settings.secretKeyFile
    return GetuiAPI(
      router: router, store: store, gateway: gateway, keys: GetuiKeys { try? keyFile.read() },
      log: settings.log, time: time
    )
  }

  static func callbackService(
    _ settings: ServeSettings, _ router: Router, _ store: Store, _ metrics: Metrics, _ time: SystemTime
  ) throws(Failure) -> CallbackService {
    let keyFile = settings.secretKeyFile
    let keys = CallbackKeys(
      read: {
        do throws(Failure) { return .success(try keyFile.read()) } catch {
          return .failure(CallbackKeys.Failure(error.message))
        }
      },
      readOrMake: { keysInUse in
        do throws(Failure) { return .success(try keyFile.readOrMake(inUse: keysInUse)) } catch {
          return .failure(CallbackKeys.Failure(error.message))
        }
      })
    let service = CallbackService(
      router: router, store: store, options: settings.callbacks, keys: keys, metrics: metrics, time: time,
      log: settings.log)
    guard let service else { throw .failed("cannot start the thread that sends callbacks") }
    return service
  }
}
