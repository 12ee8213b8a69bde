package com.huawei.hms.aaid;

import android.content.Context;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public class HmsInstanceId {
  public static HmsInstanceId getInstance(Context context) {
    return new HmsInstanceId();
  }

  public String getToken(String appId, String scope) throws Exception {
    return "hms-token of " + appId + " for " + scope;
  }
}
