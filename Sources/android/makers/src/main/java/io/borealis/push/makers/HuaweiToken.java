package io.borealis.push.makers;

import android.content.Context;
import io.borealis.push.android.Borealis;

/**
 * Push Kit of HMS Core: qiita.com/Rei_2020/items/6210b169d1577371d588 after developer.huawei.com, as stored
 * in November 2026: {@code HmsInstanceId.getInstance(context).getToken(appId, "HCM")} waits for the token.
 * The app's ID is {@code client/app_id} of agconnect-services.json, or in the manifest. If the token is
 * empty, it comes to the app's {@code HmsMessageService.onNewToken}.
 */
final class HuaweiToken extends Maker {
  private static final String CONFIG = "com.huawei.agconnect.config.AGConnectServicesConfig";

  HuaweiToken() {
    super("huawei", "com.huawei.hms.aaid.HmsInstanceId");
  }

  @Override
  public void obtain(Context context, Receiver receiver) throws Exception {
    // Honor's phones of before 2021 have Huawei's services.
    if (!isBy("huawei", "honor")) return;
    Class<?> instanceId = Class.forName("com.huawei.hms.aaid.HmsInstanceId");
    Object instance = call(instanceId, null, "getInstance", types(Context.class), context);
    Class<?>[] texts = types(String.class, String.class);
    receiver.onToken((String) call(instanceId, instance, "getToken", texts, appId(context), "HCM"));
  }

  private static String appId(Context context) throws Exception {
    String value = Borealis.metaData(context, "com.huawei.hms.client.appid");
    if (!value.isEmpty()) return value.startsWith("appid=") ? value.substring(6) : value;
    Class<?> config = Class.forName(CONFIG);
    Object instance = call(config, null, "fromContext", types(Context.class), context);
    return (String) call(config, instance, "getString", types(String.class), "client/app_id");
  }
}
