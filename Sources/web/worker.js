// The service worker's part of Web Push: shows what comes, once, opens the page on a tap, reports both to the server, and subscribes anew
// when the browser has ended a subscription. A site's own worker imports it.

import { Keys, isEnciphered } from "./encryption.js";
import { Store, call } from "./store.js";

const store = new Store(registration.scope);

addEventListener("push", (event) => {
  const push = read(event.data);
  if (push) event.waitUntil(show(push));
});

addEventListener("notificationclick", (event) => {
  const { borealis, url } = event.notification.data ?? {};
  // One of the site's own.
  if (!borealis) return;
  event.notification.close();
  event.waitUntil(Promise.all([open(url, borealis), note(borealis)]));
});

addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renew(event)));

// MARK: Showing

// A push of Borealis; null for anything else that a site may send.
function read(data) {
  try {
    const push = data.json();
    const id = Number(push.msg_id);
    return Number.isSafeInteger(id) && id > 0 && push.notification ? { id, content: push } : null;
  } catch {
    return null;
  }
}

async function show({ id, content: sealed }) {
  const identity = await store.fact("identity") ?? {};
  const { content, key } = await decipher(sealed);
  // The page may have got it over its connection.
  if (!await store.claim(id, { at: Date.now(), content, key })) return;
  const { notification, override } = content;
  const tag = String(override ?? id);
  await registration.showNotification(...describe(notification, identity, {
    tag, renotify: override !== undefined, data: { borealis: id, url: address(notification) ?? identity.page ?? registration.scope },
  }));
  await tell({ borealis: "shown", id });
  await store.report("shown", id);
}

// Opens what only the device reads. A key that is not here may come later, but the person sees something now: the neutral text.
async function decipher(content) {
  if (!isEnciphered(content)) return { content };
  try {
    return await new Keys({ values: { keys: await store.fact("keys") } }).read(content);
  } catch (error) {
    console.info("not opened:", error);
    return { content };
  }
}

// Title and options of the browser's notification, of what JPush has under `notification.android`.
function describe(notification, { title, icon }, options) {
  const { alert } = notification;
  const texts = typeof alert === "object" && alert !== null ? alert : { title: notification.title, body: alert };
  return [texts.title ?? title ?? "", {
    ...options, body: (notification.style === 1 && notification.big_text) || String(texts.body ?? ""),
    icon: secure(notification.large_icon) ?? icon,
    image: notification.style === 3 ? secure(notification.big_pic_path) : undefined,
    silent: notification.alert_type === 0,
  }];
}

// Where a tap leads, if the sender says so.
function address(notification) { return secure(notification.intent?.url); }

function secure(text) { return typeof text === "string" && /^https:\/\//i.test(text) ? text : undefined; }

async function tell(said) {
  for (const page of await pages()) page.postMessage(said);
}

// The site's open pages that share the store with this worker.
async function pages() {
  const all = await clients.matchAll({ type: "window", includeUncontrolled: true });
  return all.filter((page) => page.url.startsWith(registration.scope));
}

// MARK: Taps

async function note(id) {
  await store.amend(id, (push) => ({ ...push, tapped: true }));
  await tell({ borealis: "tapped", id });
  await store.report("tapped", id);
}

// The page, if it is open, comes to the front.
async function open(url, id) {
  try {
    const page = (await pages()).find((one) => one.url === url);
    await (page ? page.focus() : clients.openWindow(url));
  } catch (error) {
    console.info(`nothing opened for ${id}:`, error);
  }
}

// MARK: The subscription

// Browsers end subscriptions, and some give a new one at once. The server is told here, since no page may be open.
async function renew({ newSubscription }) {
  const identity = await store.fact("identity");
  if (!identity) return;
  const key = identity.publicKey;
  const subscription = newSubscription
    ?? await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }).catch(() => null);
  const token = subscription ? JSON.stringify(subscription) : "";
  await call(identity, "tokens", { tokens: [{ channel: "webpush", token }] });
  // It then tells the same on its connection. Without a page, or an answer here, the next one does.
  await tell({ borealis: "subscribed" });
}
