package com.huawei.agconnect.config;

import android.content.Context;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public abstract class AGConnectServicesConfig {
  public static AGConnectServicesConfig fromContext(Context context) {
    // A subclass that is not public, as the library has.
    return new Json();
  }

  public abstract String getString(String path);

  private static final class Json extends AGConnectServicesConfig {
    @Override
    public String getString(String path) {
      return path.equals("client/app_id") ? "from-json" : null;
    }
  }
}
