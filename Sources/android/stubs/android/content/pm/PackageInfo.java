package android.content.pm;

/** As much of Android's class as the library and its pages use. */
public class PackageInfo {
  public ActivityInfo[] receivers;
  public ServiceInfo[] services;
  public String versionName;
}
