package android.app;

import android.content.Context;
import android.os.Bundle;
import java.util.ArrayList;
import java.util.List;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public class Application extends Context {
  /** For tests: what is registered. */
  public final List<ActivityLifecycleCallbacks> registered = new ArrayList<>();

  public void onCreate() {}

  public void registerActivityLifecycleCallbacks(ActivityLifecycleCallbacks callback) {
    registered.add(callback);
  }

  public void unregisterActivityLifecycleCallbacks(ActivityLifecycleCallbacks callback) {
    registered.remove(callback);
  }

  public interface ActivityLifecycleCallbacks {
    void onActivityCreated(Activity activity, Bundle state);

    void onActivityStarted(Activity activity);

    void onActivityResumed(Activity activity);

    void onActivityPaused(Activity activity);

    void onActivityStopped(Activity activity);

    void onActivitySaveInstanceState(Activity activity, Bundle state);

    void onActivityDestroyed(Activity activity);
  }
}
