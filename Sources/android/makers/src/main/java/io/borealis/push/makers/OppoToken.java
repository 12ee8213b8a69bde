package io.borealis.push.makers;

import android.content.Context;

/**
 * OPPO's push service, 3.0.0 and newer: blog.csdn.net/qq_33209777/article/details/122809875 after
 * open.oppomobile.com/wiki/doc#id=10704, as of February 2022: {@code init(context, false)}, {@code
 * isSupportPush(context)} and {@code register(context, appKey, appSecret, callback)}, whose {@code
 * onRegister} begins with a code and the token. Newer versions pass more after them.
 */
final class OppoToken extends Maker {
  private static final String MANAGER = "com.heytap.msp.push.HeytapPushManager";

  OppoToken() {
    super("oppo", MANAGER);
  }

  @Override
  public void obtain(Context context, Receiver receiver) throws Exception {
    call(MANAGER, "init", types(Context.class, boolean.class), context, false);
    if (!Boolean.TRUE.equals(call(MANAGER, "isSupportPush", types(Context.class), context))) return;
    Class<?> callback = Class.forName("com.heytap.msp.push.callback.ICallBackResultService");
    Object listener = listener(callback, (method, arguments) -> {
      boolean isToken = method.equals("onRegister") && Integer.valueOf(0).equals(arguments[0]);
      if (isToken) receiver.onToken((String) arguments[1]);
    });
    String key = number(context, "OPPO_APPKEY");
    String secret = number(context, "OPPO_APPSECRET");
    Class<?>[] types = types(Context.class, String.class, String.class, callback);
    call(MANAGER, "register", types, context, key, secret, listener);
  }
}
