package io.borealis.getui;

import android.content.Context;
import io.borealis.push.Nullable;
import io.borealis.push.OperationResult;
import io.borealis.push.PushClient;
import io.borealis.push.ResultCode;
import io.borealis.push.facade.PushHost;
import io.borealis.push.makers.LauncherBadge;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The calls of an app. Results come to {@link GTIntentService#onReceiveCommandResult} with the {@code sn}
 * that the app named.
 */
public final class PushManager {
  private static final PushManager INSTANCE = new PushManager();
  private static final int SHOWN = 60001;
  private static final int TAPPED = 60002;

  private PushManager() {}

  /**
   * The only one.
   *
   * @return the same object each time
   */
  public static PushManager getInstance() {
    return INSTANCE;
  }

  /**
   * Does nothing: nothing is read before the user has agreed.
   *
   * @param context any context of the app
   */
  public void preInit(Context context) {}

  /**
   * Connects and stays connected, unless pushes are turned off. Call it at each start when the user has
   * agreed. The server and the app's key are the manifest's meta-data {@code BOREALIS_SERVER} and
   * {@code GETUI_APPID}.
   *
   * @param context any context of the app
   */
  public void initialize(Context context) {
    Hub.of(context).start();
  }

  /**
   * Not of Getui: the CID that Getui issued to this install, if the app has kept it. The first registration
   * takes it over, with its alias and tags, if it was imported. Call it before {@link #initialize}.
   *
   * @param cid null for none
   */
  public void setFormerClientid(@Nullable String cid) {
    PushHost.setFormerRegistrationId(cid);
  }

  /**
   * Names the service that gets what happens, for apps whose manifest does not have it.
   *
   * @param context any context of the app
   * @param type its class
   */
  public void registerPushIntentService(Context context, Class<? extends GTIntentService> type) {
    Hub.of(context).add(type);
  }

  /**
   * The device's CID.
   *
   * @param context any context of the app
   * @return null until there is one
   */
  public String getClientid(Context context) {
    String id = Hub.of(context).host().registrationId();
    return id.isEmpty() ? null : id;
  }

  /**
   * Turns pushes on again.
   *
   * @param context any context of the app
   */
  public void turnOnPush(Context context) {
    Hub.of(context).host().resume();
  }

  /**
   * Turns pushes off until {@link #turnOnPush}, also after a restart of the app.
   *
   * @param context any context of the app
   */
  public void turnOffPush(Context context) {
    Hub.of(context).host().stop();
  }

  /**
   * Whether pushes are turned on.
   *
   * @param context any context of the app
   * @return false before {@link #initialize} and after {@link #turnOffPush}
   */
  public boolean isPushTurnedOn(Context context) {
    return Hub.of(context).host().isStarted();
  }

  /**
   * Whether the user allows notifications.
   *
   * @param context any context of the app
   * @return false if they are not shown
   */
  public boolean areNotificationsEnabled(Context context) {
    return Hub.of(context).host().notifications().areAllowed();
  }

  /**
   * Sets the number on the app's icon, at the server and where the launcher allows it.
   *
   * @param context any context of the app
   * @param badgeNum 0 to 99999
   * @return false if the launcher does not allow it, or the app does not have borealis-makers.aar
   */
  public boolean setHwBadgeNum(Context context, int badgeNum) {
    Hub.of(context).host().client().setBadge(badgeNum, null);
    try {
      return LauncherBadge.show(context, badgeNum);
    } catch (LinkageError error) {
      return false;
    }
  }

  // Alias

  /**
   * Binds the alias, replacing the device's previous one.
   *
   * @param context any context of the app
   * @param alias at most 40 characters
   * @return false if there is no alias
   */
  public boolean bindAlias(Context context, String alias) {
    return bindAlias(context, alias, "");
  }

  /**
   * Binds the alias, replacing the device's previous one.
   *
   * @param context any context of the app
   * @param alias at most 40 characters
   * @param sn returned with the result
   * @return false if there is no alias
   */
  public boolean bindAlias(Context context, String alias, String sn) {
    if (alias == null || alias.isEmpty()) return false;
    Hub hub = Hub.of(context);
    hub.host().client().setAlias(alias,
        result -> hub.ended(new BindAliasCmdMessage(hub, sn, aliasCode(result.code()))));
    return true;
  }

  /**
   * Releases the device's alias.
   *
   * @param context any context of the app
   * @param alias the alias
   * @param isSelf true; false would release it from all devices, which a device cannot do here
   * @return false if nothing is done
   */
  public boolean unBindAlias(Context context, String alias, boolean isSelf) {
    return unBindAlias(context, alias, isSelf, "");
  }

  /**
   * Releases the device's alias.
   *
   * @param context any context of the app
   * @param alias the alias
   * @param isSelf true; false would release it from all devices, which a device cannot do here
   * @param sn returned with the result
   * @return false if nothing is done
   */
  public boolean unBindAlias(Context context, String alias, boolean isSelf, String sn) {
    if (alias == null || alias.isEmpty() || !isSelf) return false;
    Hub hub = Hub.of(context);
    PushClient client = hub.host().client();
    // Another alias that the device has meanwhile stays.
    client.getAlias(known -> {
      if (known.isOk() && alias.equals(known.alias())) client.deleteAlias(result -> unbound(hub, sn, result));
      else unbound(hub, sn, known);
    });
    return true;
  }

  private static void unbound(Hub hub, String sn, OperationResult result) {
    hub.ended(new UnBindAliasCmdMessage(hub, sn, aliasCode(result.code())));
  }

  private static int aliasCode(int code) {
    switch (code) {
      case ResultCode.OK:
        return PushConsts.ALIAS_BIND_SUCCESS;
      case ResultCode.TOO_FREQUENT:
        return PushConsts.ALIAS_ERROR_FREQUENCY;
      case ResultCode.STOPPED:
        return PushConsts.ALIAS_CID_LOST;
      case ResultCode.TIMEOUT:
        return PushConsts.ALIAS_CONNECT_LOST;
      case ResultCode.NOTHING_SET:
      case ResultCode.ALIAS_INVALID:
      case ResultCode.ALIAS_TOO_LONG:
      case ResultCode.ALIAS_FULL:
        return PushConsts.ALIAS_INVALID;
      default:
        return PushConsts.ALIAS_OPERATE_ALIAS_FAILED;
    }
  }

  // Tags

  /**
   * Replaces all tags.
   *
   * @param context any context of the app
   * @param tags the new ones
   * @param sn returned with the result
   * @return 0 if the call was made, otherwise a code of {@link PushConsts}
   */
  public int setTag(Context context, Tag[] tags, String sn) {
    if (tags == null || tags.length == 0) return PushConsts.SETTAG_ERROR_NULL;
    Set<String> names = new LinkedHashSet<>();
    for (Tag tag : tags) {
      if (tag == null || tag.getName() == null) return PushConsts.SETTAG_ERROR_NULL;
      names.add(tag.getName());
    }
    Hub hub = Hub.of(context);
    if (!hub.host().isStarted()) return PushConsts.SETTAG_ERROR_UNBIND;
    hub.host().client().setTags(names,
        result -> hub.ended(new SetTagCmdMessage(hub, sn, tagCode(result.code()))));
    return PushConsts.SETTAG_SUCCESS;
  }

  private static int tagCode(int code) {
    switch (code) {
      case ResultCode.OK:
        return PushConsts.SETTAG_SUCCESS;
      case ResultCode.TOO_MANY_TAGS:
      case ResultCode.TAGS_TOO_LONG:
        return PushConsts.SETTAG_ERROR_COUNT;
      case ResultCode.TOO_FREQUENT:
        return PushConsts.SETTAG_ERROR_FREQUENCY;
      case ResultCode.STOPPED:
        return PushConsts.SETTAG_ERROR_UNBIND;
      case ResultCode.TIMEOUT:
        return PushConsts.SETTAG_NOTONLINE;
      case ResultCode.BLOCKED:
        return PushConsts.SETTAG_IN_BLACKLIST;
      case ResultCode.DEVICE_TAGS_FULL:
      case ResultCode.APP_TAGS_FULL:
      case ResultCode.NEW_TAGS_USED_UP:
        return PushConsts.SETTAG_NUM_EXCEED;
      case ResultCode.NOTHING_SET:
      case ResultCode.TAG_INVALID:
      case ResultCode.TAG_TOO_LONG:
        return PushConsts.SETTAG_TAG_ILLEGAL;
      default:
        return PushConsts.SETTAG_ERROR_EXCEPTION;
    }
  }

  // Reports

  /**
   * Reports what happened to a notification that the app has shown itself.
   *
   * @param context any context of the app
   * @param taskid what the message had
   * @param messageid what the message had
   * @param actionid 60001 for shown, 60002 for tapped; the server does not count others
   * @return false for other numbers, and if the message ID is not one
   */
  public boolean sendFeedbackMessage(Context context, String taskid, String messageid, int actionid) {
    if (actionid != SHOWN && actionid != TAPPED) return false;
    Hub hub = Hub.of(context);
    try {
      long id = Long.parseLong(messageid);
      if (actionid == TAPPED) hub.host().reportTapped(id);
      else hub.host().client().reportShown(id);
    } catch (NumberFormatException error) {
      return false;
    }
    hub.ended(new FeedbackCmdMessage(hub, taskid, actionid, System.currentTimeMillis()));
    return true;
  }
}
