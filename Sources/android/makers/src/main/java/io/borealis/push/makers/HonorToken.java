package io.borealis.push.makers;

import android.content.Context;

/**
 * Honor's push service: doc.yunxin.163.com/messaging/docs/DMwMjc5MDM after developer.honor.com, as of March
 * 2024: {@code init(context, false)}, then {@code getPushToken(callback)}. The app's ID is the meta-data
 * {@code com.hihonor.push.app_id}.
 */
final class HonorToken extends Maker {
  HonorToken() {
    super("honor", "com.hihonor.push.sdk.HonorPushClient");
  }

  @Override
  public void obtain(Context context, Receiver receiver) throws Exception {
    Class<?> type = Class.forName("com.hihonor.push.sdk.HonorPushClient");
    Object client = call(type, null, "getInstance", types());
    Class<?>[] contexts = types(Context.class);
    if (!Boolean.TRUE.equals(call(type, client, "checkSupportHonorPush", contexts, context))) return;
    call(type, client, "init", types(Context.class, boolean.class), context, false);
    Class<?> callback = Class.forName("com.hihonor.push.sdk.HonorPushCallback");
    Object listener = listener(callback, (method, arguments) -> {
      if (method.equals("onSuccess")) receiver.onToken((String) arguments[0]);
    });
    call(type, client, "getPushToken", types(callback), listener);
  }
}
