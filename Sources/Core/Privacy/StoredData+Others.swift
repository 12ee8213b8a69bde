extension StoredData {
  private static let asLong = "as long as what it belongs to"

  /// Columns that say nothing about a person.
  static let others: [StoredDatum] = apps + operation

  private static let apps = [
    StoredDatum(
      "apps, their rights, plans and secrets", for: "to serve them",
      in: .columns(
        "app",
        "id app_key name secret_hash created_at next_number disabled account_id plan old_secret_hash android_package group_name allowed_networks deleted_at purged_at given_up seals_contents seals_changed_at imports_from facts next_fact erased_facts_from approval_above approval_of_servers undo_seconds asked_above asked_of_servers asked_by asked_at cap_normal cap_marketing quiet_from quiet_until quiet_drops"
      ),
      .columns(
        "api_key",
        "id app_id name secret_hash secret_end rights networks created_at expires_at last_used_at revoked_at"),
      .columns("account", "id name dev_key secret_hash plan created_at disabled"),
      .columns(
        "plan",
        "name push_calls device_calls report_calls schedule_calls file_calls broadcasts max_time_to_live speed shares_speed registrations"
      ), .columns("app_group", "id group_key name secret_hash created_at account_id"),
      .columns("app_group_member", "group_id app_id"), until: "the app, account, plan or group is deleted"),
    StoredDatum(
      "credentials of channels and callbacks", for: "to reach their services",
      in: .columns(
        "credential",
        "id app_id channel service kind subject team_id name fingerprint expires_at created_at state reason changed_at replaced_by sealed"
      ), .columns("credential_notice", "credential_id days at"),
      .columns("callback_setting", "app_id url types secret old_secret old_until changed_at format"),
      .columns("callback_app", "app_id"), .columns("getui_access", "app_id secret changed_at"),
      .columns("getui_revoked_token", "app_id token expires_at"), until: "they are removed, or the app is"),
    StoredDatum(
      "times of schedules, segments, templates, A/B tests, and what names and orders requests",
      for: "to send once and in time",
      in: .columns(
        "schedule",
        "id app_id uuid cid enabled trigger_json created_at next_local next_at last_local last_at segment template abtest author approval decided_by decided_at is_send follows_devices"
      ),
      .columns("cid", "id app_id cid msg_id sendno created_at digest"),
      .columns("group_push", "group_msgid group_id sendno cid created_at"),
      .columns("group_push_member", "group_msgid app_key msg_id code status message"),
      .columns("getui_push", "push_id app_id task_id group_name"),
      .columns("push_sender", "msg_id app_id kind number forecast"),
      .columns("steady_push", "msg_id app_id minutes ends_at"),
      .columns("segment", "id app_id name condition created_at changed_at"),
      .columns("template", "id app_id name body created_at changed_at"),
      .columns("abtest", "id app_id name body segment created_at changed_at"),
      .columns(
        "abtest_run",
        "id test_id app_id body rest rest_count sender_kind sender_number started_at look look_at state winner ended_at message"
      ), .columns("abtest_push", "run_id place msg_id delivered tapped"),
      .columns(
        "canary",
        "msg_id app_id body rest rest_count sender_kind sender_number share wait max_failures started_at look look_at state ended_at rest_msg_id succeeded failed message code"
      ),
      .columns("push_plan", "app_id name description push_count created_at last_used_at"), until: asLong),
    StoredDatum(
      "counts", for: "reports and limits",
      in: .columns(
        "statistics",
        "hour app_id pushes targets acknowledged refused shown tapped online latencies accepted"),
      .columns("newcomers", "hour app_id platform count"), .columns("counted_push", "app_id through"),
      .columns("broadcast_count", "app_id day count"),
      .columns("app_figures", "app_id registrations connected alerts at"), until: asLong),
    StoredDatum(
      "incidents: what was wrong with an app, and when", for: "to find out what happened",
      in: .columns(
        "incident", "id app_id kind channel service english chinese began_at ended_at is_settled"),
      until: "90 days after their end"),
  ]

  private static let operation = [
    StoredDatum(
      "nodes and homes of a cluster", for: "to divide the work",
      in: .columns(
        "node",
        "incarnation cluster name address version is_draining beat started_at capabilities reaches"),
      .columns("dead_node", "name address version seen_at"),
      .columns("home", "app_id incarnation epoch fence"),
      .columns("fence", "incarnation connection slot"),
      .columns("commit_mark", "incarnation connection number"),
      until: "the node is forgotten"),
    StoredDatum(
      "versions of the schema, and keys of the installation", for: "upgrades and encryption",
      in: .columns("schema_migration", "version name sha256 applied_at"), .columns("browser_key", "id key"),
      .columns("content_sealing_key", "number key_id probe"), until: "the database is deleted"),
    StoredDatum(
      "files beside the database", for: "encryption, TLS, and to run once",
      in: .folder("secret-key", "tls/certificate.pem", "tls/key.pem", "acme.json", "lock", "commands.sock"),
      until: "the folder is deleted"),
    StoredDatum(
      "the database itself, with the columns above", for: "all of the above",
      in: .folder("borealis.*"),
      until: "the folder is deleted"),
  ]
}
