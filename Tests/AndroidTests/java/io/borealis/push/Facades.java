package io.borealis.push;

import android.app.Application;
import android.content.pm.ActivityInfo;
import android.content.pm.ServiceInfo;
import android.net.ConnectivityManager;
import android.os.Bundle;
import java.io.File;
import java.util.Map;

/** Apps for the tests of the packages in the shape of other libraries. */
public final class Facades {
  private Facades() {}

  /** A process of an app with a server's address and a key in its manifest, and a component. */
  public static Application app(File folder, String server, String keyName, String key, Class<?> component) {
    Application app = new Application();
    app.folder = folder;
    app.connectivity = new ConnectivityManager();
    Bundle values = new Bundle();
    values.putString("BOREALIS_SERVER", server);
    values.putString(keyName, key);
    values.putBoolean("BOREALIS_PLAIN", true);
    app.packages.application.metaData = values;
    ActivityInfo receiver = new ActivityInfo();
    receiver.name = component.getName();
    ActivityInfo other = new ActivityInfo();
    other.name = "com.example.Missing";
    app.packages.manifest.receivers = new ActivityInfo[] {other, receiver};
    ServiceInfo service = new ServiceInfo();
    service.name = component.getName();
    app.packages.manifest.services = new ServiceInfo[] {service};
    app.packages.manifest.versionName = "1.2";
    return app;
  }

  /**
   * Waits until the server has counted something of a push, such as {@code tapped}; {@code inapp.tapped} is
   * of its in-app message.
   */
  public static void awaitCount(TestServer server, long id, String name) throws Exception {
    long end = System.nanoTime() + 30_000_000_000L;
    while (true) {
      Map<String, Object> report = server.call("GET", "/v1/pushes/" + id, null);
      Object count = report.get(name);
      if (name.startsWith("inapp.")) count = Json.object(report.get("inapp")).get(name.substring(6));
      if (Long.valueOf(1).equals(count)) return;
      if (System.nanoTime() > end) throw new AssertionError(name + " " + count);
      Thread.sleep(20);
    }
  }
}
