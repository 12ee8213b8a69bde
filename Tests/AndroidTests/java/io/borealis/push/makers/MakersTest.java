package io.borealis.push.makers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import android.app.Application;
import android.content.Context;
import android.content.Intent;
import android.net.ConnectivityManager;
import android.os.Build;
import android.os.Bundle;
import com.xiaomi.mipush.sdk.MiPushMessage;
import io.borealis.push.Peer;
import io.borealis.push.Push;
import io.borealis.push.PushListener;
import io.borealis.push.android.Borealis;
import io.borealis.push.android.ChannelToken;
import java.io.File;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The adapters, against classes with the names and signatures of the makers' libraries. */
@Timeout(120)
class MakersTest {
  @TempDir
  Path folder;

  private final Application application = new Application();
  private ServerSocket listener;
  private Borealis borealis;

  @BeforeEach
  void begin() throws Exception {
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    application.folder = folder.toFile();
    application.connectivity = new ConnectivityManager();
    Bundle values = new Bundle();
    values.putString("BOREALIS_SERVER", "127.0.0.1:" + listener.getLocalPort());
    values.putString("BOREALIS_APP_KEY", "0123456789abcdef00112233");
    values.putBoolean("BOREALIS_PLAIN", true);
    values.putString("XIAOMI_APPID", "MI-1");
    values.putString("XIAOMI_APPKEY", "MI-2");
    values.putString("OPPO_APPKEY", "OP-3");
    values.putString("OPPO_APPSECRET", "OP-4");
    values.putString("MEIZU_APPID", "MZ-5");
    values.putString("MEIZU_APPKEY", "six");
    application.packages.application.metaData = values;
    borealis = new Borealis(application, Borealis.manifestConfig(application, "BOREALIS_APP_KEY").build(),
        new PushListener() {});
    borealis.reportTokens(MakerTokens.all());
  }

  @AfterEach
  void end() throws Exception {
    Build.MANUFACTURER = "Google";
    borealis.close();
    listener.close();
  }

  @Test
  void allAreThere() {
    assertEquals("honor huawei xiaomi oppo vivo meizu fcm",
        Arrays.stream(MakerTokens.all()).map(ChannelToken::channel).collect(Collectors.joining(" ")));
    assertFalse(Maker.has("com.example.Missing"));
  }

  @ParameterizedTest
  @CsvSource({"Google,fcm,fcm-token", "HONOR,honor,honor-token",
      "HUAWEI,huawei,hms-token of from-json for HCM",
      "Xiaomi,xiaomi,mi-token of 1 2", "OPPO,oppo,oppo-token of 3 4", "vivo,vivo,vivo-token",
      "Meizu,meizu,meizu-token of 5 six"})
  void theServerGetsTheToken(String phone, String channel, String token) throws Exception {
    Build.MANUFACTURER = phone;
    borealis.start(true);
    Peer peer = new Peer(listener).registered();
    // Where FCM is in the app, it is asked too; and Huawei's services may be on Honor's phones.
    String wanted = channel + "/// " + token;
    String frame = peer.next();
    while (!frame.matches("SET_CHANNEL_TOKEN \\d+ " + wanted)) {
      assertTrue(frame.matches("SET_CHANNEL_TOKEN \\d+ (fcm/// fcm-token|huawei/// .*)"), frame);
      frame = peer.next();
    }
  }

  @Test
  void nothingIsAskedWithoutConsent() throws Exception {
    int[] asked = {0};
    borealis.reportTokens(new ChannelToken() {
      @Override
      public String channel() {
        return "fcm";
      }

      @Override
      public void obtain(Context context, Receiver receiver) {
        asked[0]++;
        receiver.onToken("");
        receiver.onToken(null);
        receiver.onToken("mine");
      }
    });
    borealis.start(false);
    assertEquals(0, asked[0]);
    borealis.start(true);
    String frame = new Peer(listener).registered().next();
    assertTrue(frame.matches("SET_CHANNEL_TOKEN \\d+ fcm/// mine"), frame);
    assertEquals(1, asked[0]);
  }

  /** A library that fails, or that has other methods than expected, harms nothing. */
  @Test
  void failuresAreLeftAlone() throws Exception {
    borealis.reportTokens(new Maker("fcm", "java.lang.String") {
      @Override
      public void obtain(Context context, Receiver receiver) throws Exception {
        call("java.lang.String", "getToken", types());
      }
    }, new FcmToken());
    borealis.start(true);
    String frame = new Peer(listener).registered().next();
    assertTrue(frame.matches("SET_CHANNEL_TOKEN \\d+ fcm/// fcm-token"), frame);
  }

  @Test
  void huaweisNumberMayBeInTheManifest() throws Exception {
    Build.MANUFACTURER = "HUAWEI";
    application.packages.application.metaData.putString("com.huawei.hms.client.appid", "appid=77");
    String[] token = {null};
    new HuaweiToken().obtain(application, value -> token[0] = value);
    assertEquals("hms-token of 77 for HCM", token[0]);
  }

  @Test
  void tapsBringThePush() throws Exception {
    borealis.reportTokens();
    borealis.start(true);
    Peer peer = new Peer(listener).registered();
    Intent intent = new Intent().putExtra("msg_id", "12").putExtra("extras", "{\"page\":\"x\"}");
    Push tapped = MakerTaps.takeTapped(intent, borealis.client());
    assertEquals("12 x", tapped.messageId() + " " + tapped.notification().extras().get("page"));
    peer.expect("RECEIPT tapped=12");
    assertNull(MakerTaps.takeTapped(intent, borealis.client()));
    MiPushMessage message = new MiPushMessage();
    message.setContent("{\"msg_id\":\"13\",\"extras\":{\"page\":\"y\"}}");
    intent.extras.put("key_message", message);
    tapped = MakerTaps.takeTapped(intent, borealis.client());
    assertEquals("13 y", tapped.messageId() + " " + tapped.notification().extras().get("page"));
    peer.expect("RECEIPT tapped=13");
    message.setContent("not JSON");
    intent.extras.put("key_message", message);
    assertNull(MakerTaps.takeTapped(intent, borealis.client()));
    assertNull(MakerTaps.takeTapped(new Intent().putExtra("msg_id", "x"), borealis.client()));
    assertNull(MakerTaps.takeTapped(null, borealis.client()));
  }

  @Test
  void iconsGetTheirNumber() {
    assertFalse(LauncherBadge.show(application, 3));
    Build.MANUFACTURER = "HUAWEI";
    assertTrue(LauncherBadge.show(application, 3));
    assertEquals("content://com.huawei.android.launcher.settings/badge/ change_badge "
        + "{badgenumber=3, class=Launcher, package=com.example.app}", application.resolver.called);
    Build.MANUFACTURER = "HONOR";
    assertTrue(LauncherBadge.show(application, 4));
    String honor = "content://com.hihonor.android.launcher.settings/badge/";
    assertTrue(application.resolver.called.startsWith(honor));
    Build.MANUFACTURER = "samsung";
    assertTrue(LauncherBadge.show(application, 5));
    Intent sent = application.sent.get(0);
    assertEquals("android.intent.action.BADGE_COUNT_UPDATE", sent.action);
    assertEquals(5, sent.extras.get("badge_count"));
    Build.MANUFACTURER = "vivo";
    assertTrue(LauncherBadge.show(application, 6));
    assertEquals(6, application.sent.get(1).extras.get("notificationNum"));
    application.packages.hasLauncher = false;
    assertFalse(LauncherBadge.show(application, 7));
  }

  /** R8 renames what nothing but a name refers to. */
  @Test
  void whatIsCalledByNameIsKept() throws Exception {
    String rules = Files.readString(Paths.get("Sources/android/makers/src/main/proguard.txt"));
    Path sources = Paths.get("Sources/android/makers/src/main/java");
    try (Stream<Path> files = Files.walk(sources)) {
      for (Path file : (Iterable<Path>) files.filter(path -> path.toString().endsWith(".java"))::iterator) {
        Matcher name = Pattern.compile("\"(com\\.[\\w.$]+\\.[A-Z][\\w$]*)\"")
            .matcher(Files.readString(file));
        while (name.find()) {
          String kept = "(?s).*-keep (class|interface) " + Pattern.quote(name.group(1)) + "[ \n].*";
          assertTrue(rules.matches(kept), file + " " + name.group(1));
        }
      }
    }
    assertTrue(new File(".build/android/borealis-makers.aar").length() <= 16 * 1024);
  }
}
