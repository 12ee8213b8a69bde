package io.borealis.jpush;

import android.os.Bundle;

/** Something that happened outside of the app's own calls. */
public class CmdMessage {
  /** 0: the server refuses the registration. */
  public int cmd;
  /** The server's code. */
  public int errorCode;
  /** What the server says, for logs. */
  public String msg;
  /** Empty. */
  public Bundle extra = new Bundle();

  /** An empty event. */
  public CmdMessage() {}

  CmdMessage(int cmd, int errorCode, String msg) {
    this.cmd = cmd;
    this.errorCode = errorCode;
    this.msg = msg;
  }

  @Override
  public String toString() {
    return "CmdMessage{cmd=" + cmd + ", errorCode=" + errorCode + ", msg='" + msg + "'}";
  }
}
