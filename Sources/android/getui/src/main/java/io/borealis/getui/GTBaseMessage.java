package io.borealis.getui;

import java.io.Serializable;

/** What all events have. */
public class GTBaseMessage implements Serializable {
  private static final long serialVersionUID = 1;

  private String appid = "";
  private String pkgName = "";
  private String clientId = "";

  GTBaseMessage() {}

  void from(Hub hub) {
    appid = hub.host().appKey();
    pkgName = hub.host().application().getPackageName();
    clientId = hub.host().registrationId();
  }

  /**
   * The app's key.
   *
   * @return as in the manifest
   */
  public String getAppid() {
    return appid;
  }

  /**
   * The app's package.
   *
   * @return its name
   */
  public String getPkgName() {
    return pkgName;
  }

  /**
   * The device's CID.
   *
   * @return empty before there is one
   */
  public String getClientId() {
    return clientId;
  }
}
