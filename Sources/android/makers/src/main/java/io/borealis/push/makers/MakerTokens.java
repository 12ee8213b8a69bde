package io.borealis.push.makers;

import io.borealis.push.android.ChannelToken;
import java.util.ArrayList;
import java.util.List;

/** The tokens of the services whose libraries are in the app. */
public final class MakerTokens {
  private MakerTokens() {}

  /**
   * For {@link io.borealis.push.android.Borealis#reportTokens}: the tokens of all services whose libraries
   * the app has. On other makers' phones they do nothing.
   *
   * @return Honor, Huawei, Xiaomi, OPPO, vivo, Meizu and FCM, as far as they are there
   */
  public static ChannelToken[] all() {
    Maker[] makers = {new HonorToken(), new HuaweiToken(), new XiaomiToken(), new OppoToken(),
        new VivoToken(), new MeizuToken(), new FcmToken()};
    List<ChannelToken> present = new ArrayList<>();
    for (Maker maker : makers) if (maker.isInApp()) present.add(maker);
    return present.toArray(new ChannelToken[0]);
  }
}
