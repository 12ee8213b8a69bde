package com.meizu.cloud.pushsdk.util;

import android.content.Context;
import android.os.Build;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public class MzSystemUtils {
  public static boolean isBrandMeizu(Context context) {
    return Build.MANUFACTURER.equals("Meizu");
  }
}
