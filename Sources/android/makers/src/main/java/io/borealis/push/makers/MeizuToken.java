package io.borealis.push.makers;

import android.content.Context;

/**
 * Flyme's push service: github.com/MEIZUPUSH/PushDemo, PushSDK 4.1.0, as of 2021: {@code
 * PushManager.register(context, appId, appKey)}, after which {@code getPushId(context)} has the token. The
 * token also comes to the app's {@code MzPushMessageReceiver}, which Meizu's library demands in the
 * manifest.
 */
final class MeizuToken extends Maker {
  private static final String MANAGER = "com.meizu.cloud.pushsdk.PushManager";
  private static final String SYSTEM = "com.meizu.cloud.pushsdk.util.MzSystemUtils";

  MeizuToken() {
    super("meizu", MANAGER);
  }

  @Override
  public void obtain(Context context, Receiver receiver) throws Exception {
    if (!Boolean.TRUE.equals(call(SYSTEM, "isBrandMeizu", types(Context.class), context))) return;
    String id = number(context, "MEIZU_APPID");
    String key = number(context, "MEIZU_APPKEY");
    call(MANAGER, "register", types(Context.class, String.class, String.class), context, id, key);
    poll(() -> (String) call(MANAGER, "getPushId", types(Context.class), context), receiver);
  }
}
