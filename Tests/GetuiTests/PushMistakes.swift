/// Bodies of pushes with a mistake, and the answers.
enum PushMistakes {
  typealias Mistake = (call: String, body: String, message: String)

  static let long = String(repeating: "a", count: 51)
  static let characters =
    "allowed are letters, digits, Chinese characters and _ @ ! # $ & * + = . | ￥"
  static let blanks = "blanks and invisible characters are not allowed"
  static let task = "it must be the name of a task,"
  static let oneOf = "please choose one of notification and transmission and revoke"

  /// A push to all with something wrong in it.
  private static func push(_ rest: String, _ message: String) -> Mistake {
    ("POST /push/all", #"{"request_id":"request-0001","audience":"all",\#(rest)}"#, message)
  }

  private static func text(_ rest: String, _ message: String) -> Mistake {
    push(#""push_message":{"transmission":"hi"},\#(rest)"#, message)
  }

  private static func shown(_ rest: String, _ message: String) -> Mistake {
    push(#""push_message":{"notification":{"title":"t","body":"b",\#(rest)}}"#, message)
  }

  private static func channel(_ channel: String, _ message: String) -> Mistake {
    text(#""push_channel":\#(channel)"#, message)
  }

  private static func tags(_ condition: String, _ message: String) -> Mistake {
    ("POST /user/count", #"{"tag":[\#(condition)]}"#, message)
  }

  private static func to(_ call: String, _ audience: String, _ message: String) -> Mistake {
    (
      "POST /push/\(call)",
      #"{"request_id":"request-0001","audience":\#(audience),"push_message":{"transmission":"hi"}}"#, message
    )
  }

  private static let ofBodies: [Mistake] = [
    ("POST /push/all", "[]", "body type error: it must be a JSON object"),
    ("POST /push/all", "{}", "request_id can not be empty"),
    (
      "POST /push/all", #"{"request_id":"short"}"#,
      "request_id is invalid: it must have 10 to 32 characters"
    ),
    ("POST /push/all", #"{"request_id":7}"#, "request_id type error: it must be a string"),
    push(#""push_message":{}"#, "\(oneOf)"),
    push(#""push_message":7"#, "push_message type error: it must be a JSON object"),
    push(#""push_message":{"transmission":7}"#, "push_message.transmission type error: it must be a string"),
    push(
      #""push_message":{"transmission":"a","x":1}"#,
      "push_message.x is invalid: it is not known; known are duration, network_type, notification, revoke, transmission"
    ),
    push(#""push_message":{"transmission":"a","notification":{"title":"t"}}"#, "\(oneOf)"),
    push(
      #""push_message":{"transmission":"a","network_type":1}"#,
      "permission required by push_message.network_type: it is not supported"
    ),
    push(
      #""push_message":{"transmission":"a","duration":"1-2"}"#,
      "push_message.duration is invalid: it must be more than 10 minutes"
    ),
    push(
      #""push_message":{"transmission":"a","duration":"x"}"#,
      "push_message.duration is invalid: it must be two times in milliseconds with - between them"
    ),
    push(
      #""push_message":{"revoke":{"old_task_id":"x"}}"#,
      "push_message.revoke.old_task_id is invalid: \(task) RASS_NUMBER or RASL_NUMBER or RASA_NUMBER, not 'x'"
    ),
    push(
      #""push_message":{"revoke":{"old_task_id":"RASA_7"}}"#,
      "push_message.revoke.old_task_id is invalid: it names no task of which a push went to this audience alone"
    ),
    push(
      #""push_message":{"revoke":{"old_task_id":"RASA_7","force":true}}"#,
      "permission required by push_message.revoke.force: it is not supported"
    ),
    push(
      #""group_name":"a b","push_message":{"transmission":"hi"}"#,
      "group_name is invalid: it may have letters, digits, - and _ only"
    ),
    push(
      #""colour":"red","push_message":{"transmission":"hi"}"#,
      "colour is invalid: it is not known; known are audience, group_name, push_channel, push_message, request_id, settings, task_name"
    ),
  ]

  private static let ofNotifications: [Mistake] = [
    shown(
      #""click_type":"x""#,
      "push_message.notification.click_type is invalid: it must be one of intent, url, payload, payload_custom, startapp, none"
    ),
    shown(#""click_type":"url""#, "push_message.notification.url can not be empty"),
    shown(
      #""click_type":"none","logo":7"#,
      "push_message.notification.logo type error: it must be a string"
    ),
    shown(
      #""click_type":"none","channel_level":5"#,
      "push_message.notification.channel_level is invalid: it must be from 0 to 4"
    ),
    shown(
      #""click_type":"none","want":"x""#,
      "push_message.notification.want must be JsonString: a JSON object as a string"
    ),
    shown(
      #""click_type":"none","big_text":"a","big_image":"b""#,
      "big_text and big_image cannot setting at same time"
    ),
    shown(
      #""click_type":"none","badge_add_num":100"#,
      "push_message.notification.badge_add_num is invalid: it must be from 1 to 99"
    ),
    push(
      #""push_message":{"notification":{"title":"\#(long)","body":"b","click_type":"none"}}"#,
      "push_message.notification.title size over limit: it has 51 characters, at most 50 are allowed"
    ),
  ]

  private static let ofSettings: [Mistake] = [
    text(#""settings":{"ttl":-2}"#, "settings.ttl is invalid: it must be from -1 to 259200000"),
    text(#""settings":{"ttl":"soon"}"#, "settings.ttl type error: it must be an integer"),
    text(#""settings":{"ttl":7200000}"#, "settings.ttl is 7200000, more than the 3600000 of the app's plan"),
    text(
      #""settings":{"strategy":{"default":5}}"#,
      "settings.strategy.default is invalid: it must be 1 to 4, or 6"
    ),
    text(#""settings":{"strategy":{"ios":9}}"#, "settings.strategy.ios is invalid: it must be 1 to 4, or 6"),
    text(#""settings":{"strategy":7}"#, "settings.strategy type error: it must be a JSON object"),
    text(#""settings":{"speed":-1}"#, "settings.speed is invalid: it must be from 0 to 1000000"),
    text(#""settings":{"schedule_time":0.5}"#, "settings.schedule_time type error: it must be an integer"),
    text(#""settings":{"lst":5}"#, "permission required by settings.lst: it is not supported"),
    text(
      #""settings":{"need_backup":true}"#,
      "permission required by settings.need_backup: it is not supported"
    ),
    text(#""settings":{"active_days":2}"#, "settings.active_days is invalid: it must be from 3 to 15"),
    text(#""settings":{"activate_filter_day":5}"#, "settings.activate_filter_type can not be empty"),
    text(
      #""settings":{"activate_filter_day":5,"activate_filter_type":0}"#,
      "settings.activate_filter_type is invalid: it must be 1 or -1"
    ),
    text(
      #""settings":{"active_push_platform":[4]}"#,
      "settings.active_push_platform is invalid: it must hold 1, 2 and 3 only"
    ),
    text(
      #""settings":{"filter_notify_off":"x"}"#,
      "settings.filter_notify_off type error: it must be true or false"
    ),
    text(
      #""settings":{"custom":1}"#,
      "settings.custom is invalid: it is not known; known are activate_filter_day, activate_filter_type, active_days, active_push, active_push_platform, custom_callback, filter_notify_off, lst, need_backup, schedule_time, speed, strategy, ttl"
    ),
  ]

  private static let ofChannels: [Mistake] = [
    channel(#"{"x":1}"#, "push_channel.x is invalid: it is not known; known are android, harmony, ios, mp"),
    channel(#"{"ios":["x"]}"#, "push_channel.ios type error: it must be a JSON object"),
    channel(
      #"{"ios":{"type":"x","payload":"p"}}"#,
      "push_channel.ios.type is invalid: it must be notify or voip"
    ),
    channel(
      #"{"ios":{"type":"liveactivity"}}"#,
      "permission required by push_channel.ios.type liveactivity: it is not supported"
    ),
    channel(#"{"ios":{"laId":"x"}}"#, "permission required by push_channel.ios.laId: it is not supported"),
    channel(
      #"{"ios":{"auto_badge":"x"}}"#,
      "push_channel.ios.auto_badge is invalid: it must be a number up to 9999, such as 5, +1 or -1"
    ),
    channel(
      #"{"ios":{"apns-collapse-id":"\#(long)\#(long)"}}"#,
      "push_channel.ios.apns-collapse-id size over limit: at most 64 bytes are allowed"
    ),
    channel(
      #"{"ios":{"aps":{"alert":7}}}"#,
      "push_channel.ios.aps.alert must be a string or a JSON object, not 7"
    ),
    channel(
      #"{"ios":{"aps":{"content_available":1}}}"#,
      "push_channel.ios.aps.content_available is invalid: it is not known: write content-available"
    ),
    channel(
      #"{"ios":{"aps":{"badge":-1}}}"#,
      "push_channel.ios.aps.badge is invalid: it must be from 0 to 99999"
    ),
    channel(
      #"{"ios":{"aps":{"event":"end"}}}"#,
      "permission required by push_channel.ios.aps.event: it is not supported"
    ),
    channel(
      #"{"ios":{"multimedia":["x"]}}"#,
      "push_channel.ios.multimedia[0] type error: it must be a JSON object"
    ),
    channel(
      #"{"ios":{"multimedia":[{"url":"u","type":4}]}}"#,
      "push_channel.ios.multimedia[0].type is invalid: it must be from 1 to 3"
    ),
    channel(
      #"{"android":{"ups":{"notification":{"title":"t"}}}}"#,
      "push_channel.android.ups.notification.body can not be empty"
    ),
    channel(
      #"{"android":{"ups":{"notification":{"title":"t","body":"b","click_type":"x"}}}}"#,
      "push_channel.android.ups.notification.click_type is invalid: it must be one of intent, url, payload, payload_custom, startapp, none"
    ),
    channel(
      #"{"android":{"ups":{"transmission":"a","revoke":{"old_task_id":"RASS_1"}}}}"#,
      "push_channel.android.ups: \(oneOf)"
    ),
    channel(
      #"{"android":{"ups":{"revoke":{"old_task_id":"x"}}}}"#,
      "push_channel.android.ups.revoke.old_task_id is invalid: \(task) RASS_NUMBER or RASL_NUMBER or RASA_NUMBER, not 'x'"
    ),
    channel(
      #"{"android":{"ups":{"transmission":"a","options":{"VV":{"/pushMode":2}}}}}"#,
      "push_channel.android.ups.options.VV./pushMode is invalid: it must be from 0 to 1"
    ),
    channel(
      #"{"android":{"ups":{"transmission":"a","options":{"HW":{"/message/token":"x"}}}}}"#,
      "push_channel.android.ups.options.HW./message/token is invalid: it would change whom the push is for, or when"
    ),
    channel(
      #"{"android":{"ups":{"transmission":"a","options":{"HW":7}}}}"#,
      "push_channel.android.ups.options.HW type error: it must be a JSON object"
    ),
    channel(
      #"{"harmony":{"custom":{"type":"x","payload":1}}}"#,
      "push_channel.harmony.custom.type is invalid: it must be one of subscribe, form_update, live_view, voip_call"
    ),
    channel(
      #"{"harmony":{"notification":{"title":"t","body":"b","click_type":"payload","payload":"p"}}}"#,
      "push_channel.harmony.notification.category can not be empty"
    ),
  ]

  private static let ofConditions: [Mistake] = [
    tags(#"1"#, "tag[0] type error: it must be a JSON object"),
    tags(#"{"values":["a"]}"#, "tag[0].key can not be empty"),
    tags(
      #"{"key":"region","values":["1"]}"#,
      "permission required by tag[0].key 'region': known are custom_tag and phone_type"
    ),
    tags(
      #"{"key":"phone_type","values":["nokia"]}"#,
      "tag[0].values is invalid: it must hold android, ios and harmony only, not 'nokia'"
    ),
    tags(#"{"key":"custom_tag"}"#, "tag[0].values can not be empty"),
    tags(
      #"{"key":"custom_tag","values":["a b"]}"#,
      "tag[0].values[0] is invalid: 'a b' has the character U+0020; \(blanks)"
    ),
    tags(
      #"{"key":"custom_tag","values":["\#(long)"]}"#,
      "tag[0].values[0] size over limit: it has 51 characters, at most 32 are allowed"
    ),
    tags(#"{"key":"custom_tag","values":[7]}"#, "tag[0].values[0] type error: it must be a string"),
    tags(
      #"{"key":"custom_tag","values":["a"],"opt_type":"xor"}"#,
      "tag[0].opt_type is invalid: it must be or, and or not"
    ),
    tags(#"{"key":"custom_tag","values":["a","a"]}"#, "contains duplicate values: 'a' is given twice"),
    tags(
      #"{"key":"custom_tag","values":["a","b"]},{"key":"custom_tag","values":["c","d"]}"#,
      "permission required by tag[1].opt_type or: one condition with several values may have it"
    ),
    tags(
      #"{"key":"custom_tag","values":["a"],"x":1}"#,
      "tag[0].x is invalid: it is not known; known are key, opt_type, values"
    ),
  ]

  private static let ofAudiences: [Mistake] = [
    to("single/cid", #"{"cid":["x"]}"#, "target user is invalid"),
    to("single/cid", #"{"cid":"x"}"#, "audience.cid type error: it must be a JSON array"),
    to(
      "single/cid", #"{"cid":["x","y"]}"#,
      "audience.cid size over limit: it has 2 values, at most 1 are allowed"
    ),
    to(
      "single/cid", #"{"cid":["\#(long)"],"x":1}"#,
      "audience.x is invalid: it is not known; known are alias_type, cid"
    ),
    to("single/cid", #""all""#, "audience type error: it must be a JSON object"),
    to(
      "single/alias", #"{"alias":["nobody"]}"#,
      "target user is invalid: the app has 2 devices, none of which matches (alias: 0)"
    ),
    to(
      "single/alias", #"{"alias":["a-b"]}"#,
      "audience.alias is invalid: 'a-b' has the character '-' (U+002D); \(characters)"
    ),
    to(
      "single/cid_by_tag", #"{"cid_by_tag":[{"cid":"CID"}]}"#,
      "audience.cid_by_tag[0].tag can not be empty"
    ),
    to(
      "single/cid_by_tag", #"{"cid_by_tag":[{"cid":"CID","tag":["a"],"op_type":3}]}"#,
      "audience.cid_by_tag[0].op_type is invalid: it must be from 0 to 2"
    ),
    to("all", #""al""#, #"audience is invalid: it must be "all""#),
    to("tag", #"{"tag":[]}"#, "audience.tag can not be empty"),
    to(
      "tag", #"{"tag":[{"key":"phone_type","values":["harmony"]}]}"#,
      "target user is invalid: the app has 2 devices, but not on hmos, for which the push has something"
    ),
    to("fast_custom_tag", #"{}"#, "audience.fast_custom_tag can not be empty"),
    to(
      "fast_custom_tag", #"{"fast_custom_tag":"a b"}"#,
      "audience.fast_custom_tag is invalid: 'a b' has the character U+0020; \(blanks)"
    ),
    to(
      "fast_custom_tag", #"{"fast_custom_tag":"nobody"}"#,
      "target user is invalid: the app has 2 devices, none of which matches (tag: 0)"
    ),
    to(
      "list/message", #"{"cid":["x"]}"#,
      "audience is invalid: a stored message has none: name it in push/list/cid or push/list/alias"
    ),
  ]

  static var all: [Mistake] {
    ofBodies + ofNotifications + ofSettings + ofChannels + ofConditions + ofAudiences
  }
}
