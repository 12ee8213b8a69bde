import PushBase
import PushDomain
import PushStorage

extension Router {
  /// The most pushes of an app that are being spread at a time, as at JPush.
  private static var maximumSteadyPushes: Int { 20 }

  /// What the database has against a request.
  func fault(
    of request: AcceptRequest, in app: App, _ transaction: ReadTransaction, at now: Timestamp
  ) throws(StorageError) -> APIError? {
    if let old = request.overrides,
      let fault = overrideFault(try transaction.origin(of: old), in: app, at: now)
    {
      return fault
    }
    if let plan = request.pushPlan, try !transaction.hasPushPlan(app: app.id, name: plan) {
      return .invalidValue("options.business_operation_code names no push plan")
    }
    if request.spreadMinutes > 0,
      try transaction.steadyPushCount(app: app.id, at: now) >= Self.maximumSteadyPushes
    {
      return .overLimit("\(Self.maximumSteadyPushes) pushes with options.big_push_duration are under way")
    }
    return nil
  }

  /// Why a push cannot be overridden: JPush answers 1003 for an ID that it does not know or that is over a day old.
  private func overrideFault(_ origin: PushOrigin?, in app: App, at now: Timestamp) -> APIError? {
    // Another app's push looks like an unknown one.
    guard let origin, origin.app == app.id else {
      return .invalidValue("options.override_msg_id is unknown")
    }
    guard now <= origin.createdAt.adding(seconds: options.overrideLifetime) else {
      return .invalidValue("options.override_msg_id is too old")
    }
    return origin.isReplaced ? .invalidValue("options.override_msg_id was overridden before") : nil
  }
}
