package com.xiaomi.mipush.sdk;

import java.io.Serializable;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public class MiPushMessage implements Serializable {
  private static final long serialVersionUID = 1;

  private String content;

  public String getContent() {
    return content;
  }

  public void setContent(String content) {
    this.content = content;
  }
}
