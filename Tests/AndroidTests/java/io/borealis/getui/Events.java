package io.borealis.getui;

import android.content.Context;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The service of an app, which keeps what it gets. */
public class Events extends GTIntentService {
  static final BlockingQueue<String> ALL = new LinkedBlockingQueue<>();

  /** Waits for the next event that begins so, and passes over others. */
  static String next(String prefix) throws InterruptedException {
    while (true) {
      String event = ALL.poll(30, TimeUnit.SECONDS);
      if (event == null) throw new AssertionError("no " + prefix);
      if (event.startsWith(prefix)) return event;
    }
  }

  @Override
  public void onReceiveServicePid(Context context, int pid) {
    ALL.add("process " + pid + " " + getPackageName());
  }

  @Override
  public void onReceiveClientId(Context context, String clientid) {
    ALL.add("cid " + clientid);
  }

  @Override
  public void onReceiveMessageData(Context context, GTTransmitMessage msg) {
    ALL.add("message " + new String(msg.getPayload(), StandardCharsets.UTF_8) + " " + msg.getClientId());
  }

  @Override
  public void onReceiveOnlineState(Context context, boolean online) {
    ALL.add("online " + online);
  }

  @Override
  public void onReceiveCommandResult(Context context, GTCmdMessage message) {
    switch (message.getAction()) {
      case PushConsts.SET_TAG_RESULT:
        SetTagCmdMessage tags = (SetTagCmdMessage) message;
        ALL.add("tags " + tags.getSn() + " " + tags.getCode());
        break;
      case PushConsts.BIND_ALIAS_RESULT:
        BindAliasCmdMessage bound = (BindAliasCmdMessage) message;
        ALL.add("bound " + bound.getSn() + " " + bound.getCode());
        break;
      case PushConsts.UNBIND_ALIAS_RESULT:
        UnBindAliasCmdMessage unbound = (UnBindAliasCmdMessage) message;
        ALL.add("unbound " + unbound.getSn() + " " + unbound.getCode());
        break;
      default:
        FeedbackCmdMessage feedback = (FeedbackCmdMessage) message;
        ALL.add("feedback " + feedback.getTaskId() + " " + feedback.getActionId() + " "
            + feedback.getResult());
        break;
    }
  }

  @Override
  public void onNotificationMessageArrived(Context context, GTNotificationMessage msg) {
    ALL.add("arrived " + msg.getTitle() + " " + msg.getContent());
  }

  @Override
  public void onNotificationMessageClicked(Context context, GTNotificationMessage msg) {
    ALL.add("clicked " + msg.getMessageId() + " " + msg.getPayload());
  }
}
