extension StoredData {
  private static let withRegistration = "the registration ends, or the person is erased"
  private static let withPush = "the push is deleted (`--keep-pushes`), or the person is erased"

  /// What the server stores of people with the app.
  static let people: [StoredDatum] = identity + bindings + reachability + pushes + traces

  private static let identity = [
    StoredDatum(
      "registration: a random ID of one installation of the app, its platform, and when it was made",
      for: "to address the installation",
      in: .columns("registration", "app_id number registration_id platform created_at adoption"),
      until:
        "the device was not connected for `--keep-inactive`, another installation replaces it, or it is deleted"
    ),
    StoredDatum(
      "digest of the random password of the registration", for: "to recognize the device",
      in: .columns("registration", "secret_hash"), until: withRegistration),
    StoredDatum(
      "fingerprint: 16 random bytes that the library made, or an ID that the app passes",
      for: "to replace the registration of an installation that registers again",
      in: .columns("registration", "fingerprint"), until: withRegistration),
    StoredDatum(
      "ID on another platform from which the registration was imported",
      for: "to keep the former ID valid for the app's server",
      in: .columns("registration", "imported_id"), .columns("import_batch", "id app_id first count removed"),
      until: withRegistration),
    StoredDatum(
      "registration that was replaced or deleted, and the one in its place",
      for: "to say why a push did not arrive",
      in: .columns("gone_registration", "id app_id registration_id number platform successor at"),
      until: "`--keep-pushes` is over, or the person is erased"),
    StoredDatum(
      "version of the app", for: "to say why a push did not arrive",
      in: .columns("registration", "app_version"), until: withRegistration),
    StoredDatum(
      "when the device was last connected, and how the connection ended",
      for: "presence, to end unused registrations, to say why a push did not arrive",
      in: .columns("registration", "last_seen_at last_end"), until: withRegistration),
  ]

  private static let bindings = [
    StoredDatum(
      "alias: the name that the app gives its user", for: "to address a user's devices",
      in: .columns("registration", "alias alias_at"),
      until: "the app changes or removes it, the registration ends, or the person is erased"),
    StoredDatum(
      "tags: the groups in which the app puts its user; of a browser with `--autopush-app` its subscriptions",
      for: "to address groups",
      in: .columns("registration", "tags tag_times lost_tags"), .columns("tag", "app_id number name"),
      until: "the app removes them, the registration ends, or the person is erased"),
    StoredDatum(
      "phone number, if the app's server sets one", for: "the app's server, which may read it",
      in: .columns("registration", "mobile"),
      until: "the app's server removes it, the registration ends, or the person is erased"),
    StoredDatum(
      "number on the app's icon", for: "to count it up",
      in: .columns("registration", "badge"), until: withRegistration),
    StoredDatum(
      "whether the app's server blocks the registration", for: "to send it nothing",
      in: .columns("registration", "blocked_at"), until: withRegistration),
    StoredDatum(
      "facts, each only if the app asks for it: language, time zone, system, model, app version, store, notification permission, opt-out",
      for: "to choose whom a push is for",
      in: .columns("registration", "facts"), .columns("fact_value", "app_id number fact value"),
      until: "the app no longer asks for it, the registration ends, or the person is erased"),
    StoredDatum(
      "name of a test device", for: "to try pushes out",
      in: .columns("test_device", "app_id registration_id name created_at"),
      until: "it is removed from the list, or the person is erased"),
  ]

  private static let reachability = [
    StoredDatum(
      "tokens of APNs, FCM, phone makers and browsers' push services",
      for: "to reach the device while it is not connected",
      in: .columns("registration", "apns_environment apns_token apns_token_at token_since token_end"),
      .columns("channel_token", "app_id number channel kind name service token told_at since token_end"),
      until:
        "the service or the device replaces or withdraws it, the registration ends, or the person is erased"),
    StoredDatum(
      "hashes of a few tokens that have worked", for: "to tell a wrong credential from dead tokens",
      in: .columns("token_proof", "app_id channel service credential is_proven working former"),
      until: "newer ones push it out, or the person is erased"),
    StoredDatum(
      "public keys of the device", for: "end-to-end encryption by the app's server",
      in: .columns("device_key", "app_id number kind key told_at"),
      until: "the device makes another, the registration ends, or the person is erased"),
    StoredDatum(
      "keys that the app's server published for a device, sealed", for: "end-to-end encryption",
      in: .columns("content_key", "app_id number key_id sealed published_at"),
      until: "30 days are over, the registration ends, or the person is erased"),
  ]

  private static let pushes = [
    StoredDatum(
      "push: what it says, for whom, when it was sent and until when it may be delivered",
      for: "to deliver it, and the history",
      in: .columns(
        "push",
        "msg_id app_id created_at expires_at sendno platforms target targets target_count strategy overrides content replaced_by own_targets ios_targets unreached online_only traits object left_out languages capped quiet"
      ),
      until: "`--keep-pushes` is over, or the person is erased and nobody else got it"),
    StoredDatum(
      "for whom a push waits, who acknowledged, saw and tapped it, and who does not get it",
      for: "to deliver it once, reports, to say why it did not arrive",
      in: .columns("pending", "msg_id app_id target expires_at acknowledged"),
      .columns("delivered", "msg_id targets"),
      .columns(
        "outcome",
        "msg_id status at shown_at tapped_at acknowledged taken_back taken_back_at reached_all"),
      .columns("dropped", "msg_id reason targets"), .columns("receipt", "msg_id kind targets"),
      .columns("channel_pending", "app_id channel msg_id expires_at"),
      .columns("channel_targets", "msg_id channel leg outcome count targets"),
      .columns("channel_taken", "msg_id channel kind range taken"),
      .columns("fallback", "msg_id channel app_id seconds due_at is_done targets"),
      .columns("held_push", "msg_id until app_id targets"),
      until: withPush),
    StoredDatum(
      "push of a schedule, and message stored by Getui's API", for: "to send it later",
      in: .columns("schedule", "name push_json"),
      .columns(
        "getui_task",
        "id app_id request_id group_name created_at expires_at stopped_at schedule_id body digest"),
      .columns("schedule_run", "msg_id schedule_id occurrence at code message need_retry"),
      .columns("schedule_turn", "schedule_id occurrence skipped_until passed"),
      until: "31 days after its last time, or the person is erased and nobody else would get it"),
    StoredDatum(
      "uploaded file of aliases or registration IDs", for: "to send to those in it",
      in: .columns("file", "id owner file_id kind name count pieces created_at expires_at is_complete"),
      .columns("file_piece", "file number lines"),
      until: "the file expires or is deleted, or the person is erased"),
  ]

  private static let traces = [
    StoredDatum(
      "callback that waits for the app's server, and its outcome",
      for: "to tell the app's server about receipts",
      in: .columns(
        "callback_batch",
        "id app_id origin url events created_at ends_at state attempts next_at status error done_at body"),
      .columns("callback_attempt", "batch_id number at milliseconds status error"),
      .columns("callback_bulk", "id msg_id app_id at types channel targets next"),
      .columns("push_callback", "msg_id url types sendno params"),
      until: "`--keep-callbacks` is over, or the person is erased"),
    StoredDatum(
      "who used the app in an hour and on a day, as numbers of registrations", for: "reports of users",
      in: .columns("activity", "unit period app_id kind targets"),
      until: "93 days are over; after an erasure a number leads to nobody"),
    StoredDatum(
      "registration ID or alias in the audit log, if somebody changes a registration in the console",
      for: "to show who changed what", in: .columns("audit", "target"),
      until: "400 days are over, or the person is erased"),
    StoredDatum(
      "erasure of a person that is under way: the names that it looks for", for: "to go on after a restart",
      in: .columns("erasure", "id app_id asked_at step position names done_at"),
      until: "the erasure is done; that there was one, 30 days after it"),
    StoredDatum(
      "address of a connection or a request of a device", for: "to limit what one network may use",
      in: [.log("nowhere: only in memory, while the connection is open and for some minutes after it")],
      until: "the connection has ended and the limit's time is over"),
    StoredDatum(
      "lines of the log", for: "to find faults",
      in: [
        .log(
          "the log: IDs of apps, pushes and nodes; no registration ID, alias, tag, token or content. `borealis serve --log-level debug` adds methods and paths of requests without their values"
        )
      ],
      until: "whoever collects the log deletes it"),
  ]
}
