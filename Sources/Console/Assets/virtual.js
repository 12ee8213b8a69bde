"use strict";

// The page of the virtual device: what device.js and webpush.js do, in words and as a phone would show it.

// Notifications on the screen, and lines of the log.
const SHOWN = 20;
const LOGGED = 100;

function virtualDevice(root) {
  const { appKey, appName, publicKey, worker } = root.dataset;
  const words = JSON.parse(root.dataset.words);
  const find = (name) => root.querySelector(`[data-device-${name}]`);
  const [status, log, shade, send] = ["status", "log", "shade", "send"].map(find);
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const state = new BorealisDevice.State(`borealis.device.${appKey}`);
  const device = new BorealisDevice.Device(`${scheme}//${location.host}/device`, appKey, state, {
    state: showState, frame: logFrame, registered: showIdentity, push: receive, recalled: remove,
    waits: showWaiting, unreadable: showUnreadable, keyed: showKey, told: showToken,
  });
  const pages = `/console/apps/${appKey}/`;
  const webPush = new BorealisWebPush(device, {
    server: location.origin, publicKey, worker, scope: pages, title: appName, page: `${pages}virtual`,
    changed: showWebPush,
    shown: (push) => {
      write("←", fill(words.webPush, push.id));
      showPush(push);
    },
    opened: (id) => {
      write("→", fill(words.webPushTapped, id));
      shade.querySelectorAll(`[data-push="${id}"] .opened`).forEach((each) => { each.textContent = words.opened; });
    },
  });
  // What the server has answered to the subscription in this session; undefined before.
  let tokenCode;
  // What was asked, by number: a RESULT names only that.
  const operations = new Map();
  // The alias that it has.
  let alias = "";

  // MARK: Words

  function fill(text, ...values) {
    return values.reduce((filled, value) => filled.replace("{}", () => value), text);
  }

  function element(name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function clock(moment) {
    return moment.toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  }

  // MARK: State

  function showState(name, detail) {
    status.textContent = fill(words[name], typeof detail === "object" ? detail.seconds : "") + (typeof detail === "string" ? ` ${detail}` : "");
    root.dataset.state = name;
    if (name !== "online") tokenCode = undefined;
    showWebPush();
    if (name === "connecting") write("", words.logConnect);
    if (name === "away") write("", fill(words.logClosed, detail.code));
    const isStarted = ["connecting", "online", "away"].includes(name);
    find("start").hidden = isStarted;
    find("stop").hidden = !isStarted;
    find("forget").hidden = !state.exists;
    find("platforms").disabled = state.exists;
    for (const part of root.querySelectorAll("[data-device-needs=online]")) part.disabled = name !== "online";
    if (name === "online") askForNames();
  }

  function showIdentity() {
    const { registrationID, platform } = state.values;
    find("id").textContent = registrationID ?? "–";
    find("copy").dataset.copy = registrationID ?? "";
    find("identity").hidden = !registrationID;
    showKey();
    showWebPush();
    find("foreground").hidden = platform !== 1;
    const chosen = root.querySelector(`[name=platform][value="${platform ?? 2}"]`);
    if (chosen) chosen.checked = true;
    root.querySelectorAll("[data-device-link]").forEach((link) => {
      link.href = `/console/apps/${appKey}/push?registration_id=${registrationID ?? ""}`;
    });
    if (send) {
      send.hidden = !registrationID;
      if (send.elements.registration_id.value !== (registrationID ?? "")) renameRequest();
      send.elements.registration_id.value = registrationID ?? "";
      send.elements.platform.value = platform === 1 ? "ios" : "android";
    }
  }

  // On pages where the device can have a key.
  function showKey() {
    find("key").hidden = !device.keyID;
    find("key-id").textContent = device.keyID ?? "";
  }

  // How Web Push stands, and the one button that has an effect now.
  function showWebPush() {
    const { registrationID, platform } = state.values;
    find("webpush").hidden = !registrationID;
    const status = platform === 1 ? "ios" : webPush.status;
    const isUntold = status === "on" && tokenCode === undefined && !state.values.toldWebPush;
    const isRefused = status === "on" && tokenCode > 0 && tokenCode !== 6002;
    const text = isRefused ? fill(words["webPush-refused"], tokenCode) : words[`webPush-${isUntold ? "untold" : status}`];
    if (find("webpush-state").textContent !== text) find("webpush-state").textContent = text;
    find("webpush-problem").textContent = fill(words.webPushProblem, webPush.problem);
    find("webpush-problem").hidden = !webPush.problem;
    find("webpush-setup").hidden = status !== "nokey";
    find("webpush-on").hidden = status !== "off";
    find("webpush-off").hidden = status !== "on";
  }

  function showToken(channel, code) {
    tokenCode = code;
    state.values.toldWebPush = code === 0 && webPush.status === "on";
    state.save();
    showWebPush();
  }

  async function askForNames() {
    const [known, tags] = await Promise.all([device.operate("GET_ALIAS"), device.operate("GET_TAGS")]);
    if (known.code === 0) find("alias").elements.alias.value = alias = known.value;
    if (tags.code === 0) find("tags").elements.tags.value = tags.value.sort().join(", ");
  }

  // MARK: The log

  function write(arrow, text, name = "") {
    const line = element("li", arrow === "→" ? "ours" : arrow === "←" ? "theirs" : "between");
    line.append(element("time", "", new Date().toLocaleTimeString(document.documentElement.lang)), element("span", "arrow", arrow));
    if (name) line.append(element("code", "", name));
    line.append(element("span", "", text));
    log.prepend(line);
    while (log.children.length > LOGGED) log.lastChild.remove();
  }

  function logFrame(isOurs, name, values) {
    if (isOurs && Number.isInteger(values[0]) && name !== "PING") operations.set(values[0], name);
    write(isOurs ? "→" : "←", describe(name, values), name);
  }

  function describe(name, values) {
    const text = words[name] ?? "";
    switch (name) {
      case "HELLO_OK": case "REGISTER_OK": case "RECALL": return fill(text, values[0]);
      case "LOGIN_OK": return fill(text, values[0], values[3]);
      case "PUSH": return fill(text, values[0], values[2].length) + (values[1] & 1 ? ` ${words.offline}` : "");
      case "ACK": return fill(text, values[0].join(", "));
      case "ACK_AGE": return fill(text, values[0].map(({ id }) => id).join(", "));
      case "RECEIPT": return values[0].map(({ kind, id }) => fill(words[`receipt${kind}`] ?? "", id)).join("; ");
      case "SET_ALIAS": return fill(text, values[1]);
      case "SET_TAGS": return fill(text, values[1].join(", ") || "–");
      case "GET_KEY": return fill(text, values[1]);
      case "APP_STATE": return values[1] ? words.inFront : words.behind;
      case "RESULT": return `${takeOperation(values[0])}: ${resultText(values[1])}`;
      case "GO_AWAY": return fill(text, words[`goAway${values[0]}`] ?? values[0]);
      case "ERROR": return fill(text, `${values[0]} ${values[2]}`);
      default: return text;
    }
  }

  function takeOperation(number) {
    const name = operations.get(number);
    operations.delete(number);
    return name ?? "?";
  }

  function resultText(code) { return words[`code${code}`] ?? fill(words.code, code); }

  // MARK: Notifications

  function receive(push) {
    showPush(push);
    if (push.content.inapp_message) device.reportInApp(push, false);
  }

  function showPush({ id }) {
    // It may have waited for its key, or its notification may be there.
    remove(id);
    const push = state.values.pushes.find((one) => one.id === id);
    if (!push) return;
    const { notification, message, inapp_message: isInApp } = push.content;
    if (notification) shade.prepend(banner(push, notification));
    // What a page of the app would show.
    if (notification && isInApp) shade.prepend(banner(push, notification, true));
    if (message) shade.prepend(bubble(push, message));
    while (shade.children.length > SHOWN) shade.lastElementChild.remove();
    find("empty").hidden = true;
  }

  function item(push) {
    const made = element("li");
    made.dataset.push = push.id;
    return made;
  }

  function banner(push, notification, isInApp = false) {
    const { alert } = notification;
    const isPlain = typeof alert !== "object" || alert === null;
    const made = item(push);
    const button = element("button", "note");
    button.type = "button";
    let isTapped = !isInApp && push.tapped;
    const opened = element("span", "opened", isTapped ? words.opened : "");
    const who = isInApp ? words.inApp : appName;
    button.append(
      element("span", "who", push.key ? `${who} · ${words.encrypted}` : who), element("span", "when", clock(new Date(push.at))),
      element("strong", "", (isPlain ? notification.title : alert.title) ?? ""),
      element("span", "text", isPlain ? alert ?? "" : alert.body ?? ""), opened);
    button.addEventListener("click", () => {
      if (isTapped) return;
      isTapped = true;
      if (isInApp) device.reportInApp(push, true);
      else device.tapped(push);
      opened.textContent = words.opened;
    });
    made.append(button);
    return made;
  }

  function bubble(push, message) {
    const made = item(push);
    const body = element("div", "note message");
    body.append(
      element("span", "who", push.key ? `${words.message} · ${words.encrypted}` : words.message), element("span", "when", clock(new Date(push.at))),
      element("strong", "", message.title ?? ""), element("span", "text", String(message.msg_content ?? "")));
    made.append(body);
    return made;
  }

  // In the place of a push that only the device could read.
  function note(push, text) {
    remove(push.id);
    const made = item(push);
    const body = element("div", "note message");
    body.append(
      element("span", "who", words.encrypted), element("span", "when", clock(new Date(push.at))), element("span", "text", text));
    made.append(body);
    shade.prepend(made);
    find("empty").hidden = true;
  }

  function showWaiting(push, key) { note(push, fill(words.waitsForKey, key)); }

  function showUnreadable(push, code) { note(push, fill(words.unreadable, code)); }

  function remove(id) {
    shade.querySelectorAll(`[data-push="${id}"]`).forEach((each) => each.remove());
    find("empty").hidden = shade.children.length > 0;
  }

  function showTime() { find("clock").textContent = clock(new Date()); }

  // MARK: What people do

  function say(form, text, isBad = false) {
    const place = form.querySelector("[data-answer]");
    place.textContent = text;
    place.classList.toggle("bad", isBad);
  }

  async function change(form, names, ...operation) {
    // It does not fit in a frame.
    const tooLong = names.find((name) => new TextEncoder().encode(name).length > 255);
    if (tooLong) return say(form, fill(words.tooLong, tooLong), true);
    const { code } = await device.operate(...operation);
    if (code === 6027) return sayAliasFull(form, names[0]);
    if (code === 0 && form === find("alias")) alias = names[0] ?? "";
    say(form, code === 0 ? words.saved : resultText(code), code !== 0);
  }

  function sayAliasFull(form, asked) {
    say(form, alias ? fill(words.aliasFull, asked, alias) : fill(words.aliasFullNone, asked), true);
    const link = element("a", "", words.aliasHolders);
    link.href = `/console/apps/${appKey}/devices?q=${encodeURIComponent(asked)}`;
    form.querySelector("[data-answer]").append(" ", link);
  }

  function onSubmit(form, act) {
    form?.addEventListener("submit", (event) => {
      event.preventDefault();
      act(form);
    });
  }

  find("start").addEventListener("click", () => {
    // Another tab may have begun in the meantime.
    state.reload();
    if (!state.exists) state.begin(Number(root.querySelector("[name=platform]:checked").value));
    device.start();
    showIdentity();
  });
  find("stop").addEventListener("click", () => device.stop());
  find("webpush-on").addEventListener("click", () => webPush.turnOn());
  find("webpush-off").addEventListener("click", () => {
    state.values.toldWebPush = false;
    webPush.turnOff();
  });
  find("forget-now").addEventListener("click", async () => {
    find("forget").open = false;
    if (webPush.status === "on") await webPush.turnOff();
    if (device.isOnline) await device.operate("LOGOUT");
    device.stop();
    state.forget();
    shade.replaceChildren();
    remove();
    showIdentity();
    showState("fresh");
  });
  onSubmit(find("key"), async (form) => {
    const code = await device.rotateKey();
    say(form, code === 0 ? words.keyReplaced : resultText(code), code !== 0);
  });
  find("foreground").addEventListener("change", (event) => device.setForeground(event.target.checked));
  onSubmit(find("alias"), (form) => {
    const asked = form.elements.alias.value.trim();
    change(form, asked ? [asked] : [], ...(asked ? ["SET_ALIAS", asked] : ["DELETE_ALIAS"]));
  });
  onSubmit(find("tags"), (form) => {
    const tags = form.elements.tags.value.split(/[,，\s]+/).filter((tag) => tag);
    change(form, tags, "SET_TAGS", tags);
  });
  // Sent twice under one name, a push goes once: after a change or an answer the next one gets another name.
  function renameRequest() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    send.elements.cid.value = `${appKey}-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  }

  send?.addEventListener("input", renameRequest);
  onSubmit(send, async (form) => {
    const button = form.querySelector("button");
    say(form, "");
    button.disabled = true;
    try {
      const answer = await fetch(form.action, { method: "POST", headers: scripted, body: new URLSearchParams(new FormData(form)) });
      const said = await answer.json();
      if (!answer.ok) return say(form, said.error, true);
      say(form, words.sent);
      renameRequest();
      const link = element("a", "", words.result);
      link.href = `/console/apps/${appKey}/pushes/${said.msg_id}`;
      form.querySelector("[data-answer]").append(" ", link);
    } catch {
      say(form, words.notSent, true);
    } finally {
      button.disabled = false;
    }
  });

  // What another tab stores is this tab's as well.
  addEventListener("storage", (event) => {
    if (!state.isStoredUnder(event.key)) return;
    state.reload();
    showIdentity();
    find("platforms").disabled = state.exists;
    find("forget").hidden = !state.exists;
  });
  showTime();
  setInterval(showTime, 5000);
  root.hidden = false;
  state.values.pushes.forEach(showPush);
  showIdentity();
  showState("fresh");
  // Before the connection, which asks what the worker has shown.
  webPush.start().finally(() => { if (state.exists) device.start(); });
}

document.querySelectorAll("[data-virtual-device]").forEach(virtualDevice);
