package io.borealis.push.makers;

import android.content.Context;

/**
 * Mi Push: dev.mi.com/xiaomihyperos/documentation/detail?pId=1692, as of October 2024: {@code
 * MiPushClient.registerPush(context, appId, appKey)}, after which {@code getRegId(context)} has the token.
 * The token also comes to the app's {@code PushMessageReceiver}, which Xiaomi's library demands in the
 * manifest.
 */
final class XiaomiToken extends Maker {
  private static final String CLIENT = "com.xiaomi.mipush.sdk.MiPushClient";

  XiaomiToken() {
    super("xiaomi", CLIENT);
  }

  @Override
  public void obtain(Context context, Receiver receiver) throws Exception {
    if (!isBy("xiaomi", "redmi", "poco")) return;
    String id = number(context, "XIAOMI_APPID");
    String key = number(context, "XIAOMI_APPKEY");
    call(CLIENT, "registerPush", types(Context.class, String.class, String.class), context, id, key);
    poll(() -> (String) call(CLIENT, "getRegId", types(Context.class), context), receiver);
  }
}
