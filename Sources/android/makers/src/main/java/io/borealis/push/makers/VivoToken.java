package io.borealis.push.makers;

import android.content.Context;

/**
 * vivo's push service: its document "PUSH-SDK API接口文档" at yimenapp.com/kb-yimen/tag/push-sdk, and public
 * apps with 3.0.0.7 and newer, as stored in November 2026: {@code initialize(config)} with consent in the
 * config, {@code turnOnPush(listener)}, then {@code getRegId(listener)}. The app's ID and key are the
 * meta-data {@code com.vivo.push.app_id} and {@code com.vivo.push.api_key}.
 */
final class VivoToken extends Maker {
  VivoToken() {
    super("vivo", "com.vivo.push.PushClient");
  }

  @Override
  public void obtain(Context context, Receiver receiver) throws Exception {
    if (!isBy("vivo")) return;
    Class<?> type = Class.forName("com.vivo.push.PushClient");
    Object client = call(type, null, "getInstance", types(Context.class), context);
    call(type, client, "initialize", types(Class.forName("com.vivo.push.PushConfig")), config());
    if (!Boolean.TRUE.equals(call(type, client, "isSupport", types()))) return;
    Class<?> query = Class.forName("com.vivo.push.listener.IPushQueryActionListener");
    Object answer = listener(query, (method, arguments) -> {
      if (method.equals("onSuccess")) receiver.onToken((String) arguments[0]);
    });
    Class<?> action = Class.forName("com.vivo.push.IPushActionListener");
    Object turnedOn = listener(action, (method, arguments) -> {
      // 1 if it was on already.
      Object state = arguments[0];
      boolean isOn = Integer.valueOf(0).equals(state) || Integer.valueOf(1).equals(state);
      if (isOn) call(type, client, "getRegId", types(query), answer);
    });
    call(type, client, "turnOnPush", types(action), turnedOn);
  }

  /** The user has agreed: adapters are not called before. */
  private static Object config() throws Exception {
    Class<?> builder = Class.forName("com.vivo.push.PushConfig$Builder");
    Object made = builder.getConstructor().newInstance();
    call(builder, made, "agreePrivacyStatement", types(boolean.class), true);
    return call(builder, made, "build", types());
  }
}
