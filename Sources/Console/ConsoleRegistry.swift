import API
import Core
import Storage

/// What controllers of the console are made of.
struct ConsoleServices: Sendable {
  let router: Router
  let gateway: Gateway
  let people: People
  let accounts: Accounts
  let members: Members
  let mail: ConsoleMail
  let audit: AuditLog
  let server: ConsoleServer
  let database: @Sendable () -> ConsoleDatabase
  let devicePorts: DevicePorts
  let invitations: Invitations
  let pushes: PushPages
  let signOn: SignOn?

  fileprivate var accountPages: AccountPages { AccountPages(invitations: invitations) }
  fileprivate var operatorPages: OperatorPages {
    OperatorPages(
      router: router, accounts: accounts, invitations: invitations, server: server, database: database)
  }
  fileprivate var profilePages: ProfilePages { ProfilePages(people: people, signOn: signOn?.options) }
}

/// The controllers of the console, the only list of them: its pages, their addresses and the table of routes
/// come from here.
enum ConsoleRegistry {
  /// A controller's pages, and how to make it.
  struct Entry: Sendable {
    let pages: [Page]
    let make: @Sendable (ConsoleServices) -> any Controller

    fileprivate init<C: Controller>(_ make: @escaping @Sendable (ConsoleServices) -> C) {
      pages = C.pages
      self.make = make
    }
  }

  static let controllers: [Entry] = [
    Entry { _ in AssetPages() },
    Entry { DocsPages(version: $0.server.version) },
    Entry { LoginPages(people: $0.people, members: $0.members, mail: $0.mail, signOn: $0.signOn) },
    Entry { SignOnPages(signOn: $0.signOn) },
    Entry { ResetPages(people: $0.people, mail: $0.mail) },
    Entry { HomePages(router: $0.router, accounts: $0.accounts) },
    Entry { SearchPages(router: $0.router, members: $0.members) },
    Entry { AppPages(router: $0.router, gateway: $0.gateway) },
    Entry { IncidentPages(router: $0.router) },
    Entry { $0.pushes },
    Entry { SchedulePages(router: $0.router, gateway: $0.gateway, drafts: $0.pushes.drafts) },
    Entry { WaitingPages(router: $0.router, gateway: $0.gateway, drafts: $0.pushes.drafts) },
    Entry { HistoryPages(router: $0.router) },
    Entry { ResultPages(router: $0.router, gateway: $0.gateway, pushes: $0.pushes) },
    Entry { ChartPages(router: $0.router) },
    Entry { WhyPages(router: $0.router) },
    Entry { DevicePages(router: $0.router) },
    Entry { NamePages(router: $0.router) },
    Entry { SegmentPages(router: $0.router) },
    Entry { TemplatePages(router: $0.router) },
    Entry { CanaryPages(router: $0.router, gateway: $0.gateway) },
    Entry { ABTestPages(router: $0.router, gateway: $0.gateway, pushes: $0.pushes) },
    Entry { AliasPages(router: $0.router) },
    Entry { DeviceDeletionPages(router: $0.router) },
    Entry { PersonPages(router: $0.router) },
    Entry { VirtualDevicePages(router: $0.router, gateway: $0.gateway, pushes: $0.pushes) },
    Entry { $0.accountPages },
    Entry {
      InvitationPages(invitations: $0.invitations, accounts: $0.accountPages, operators: $0.operatorPages)
    },
    Entry { $0.profilePages },
    Entry { TOTPPages(people: $0.people, profile: $0.profilePages) },
    Entry { SettingsPages(router: $0.router, gateway: $0.gateway, devicePorts: $0.devicePorts) },
    Entry { CredentialPages(router: $0.router, gateway: $0.gateway) },
    Entry { ChannelTestPages(router: $0.router, gateway: $0.gateway, pushes: $0.pushes) },
    Entry { ExpiryPages(router: $0.router, mail: $0.mail) },
    Entry { CallbackPages(gateway: $0.gateway) },
    Entry { FactPages(router: $0.router) },
    Entry { BrakePages(router: $0.router) },
    Entry { KeyPages(router: $0.router) },
    Entry { RequestPages(router: $0.router) },
    Entry { GroupPages(router: $0.router) },
    Entry { $0.operatorPages },
    Entry { AuditPages(log: $0.audit, router: $0.router) },
    Entry { LanguagePages(profiles: $0.people.profiles) },
  ]

  /// All pages of the console.
  static let pages: [Page] = controllers.flatMap(\.pages)
}

extension WebConsole {
  /// The paths of all pages that only show something, with names in braces: for measurements.
  package static var addresses: [String] {
    ConsoleRegistry.pages.filter { $0.method == "GET" }.map(\.pattern)
  }
}
