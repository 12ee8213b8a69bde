"use strict";

// Pages work without this; it makes them live.

const formToken = document.querySelector("meta[name=form-token]")?.content ?? "";
const scripted = { "Accept": "application/json", "X-Form-Token": formToken };

// Moments by the reader's own clock, beside the server's.
function showTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (!Number.isNaN(moment.getTime())) time.title = moment.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "long" });
  }
}

// Buttons that copy; without a script they are not there.
for (const button of document.querySelectorAll("[data-copy][hidden]")) button.hidden = false;
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  let isCopied = true;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    // Without TLS there is no clipboard, only the older way.
    isCopied = copyMarked(button.dataset.copy);
  }
  button.dataset.label ??= button.textContent;
  button.textContent = isCopied ? button.dataset.done : button.dataset.manual;
  setTimeout(() => { button.textContent = button.dataset.label; }, isCopied ? 1500 : 6000);
});

// Marks the place where a text stands, so that it can be copied, and tries to copy it.
function copyMarked(text) {
  const place = [...document.querySelectorAll("code, pre")].find((each) => each.checkVisibility() && each.textContent.replaceAll(" ", "") === text.replaceAll(" ", ""));
  if (!place) return false;
  getSelection().selectAllChildren(place);
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  }
}

// A form is sent once, however often its button is clicked.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method !== "post") return;
  const now = Date.now();
  if (now - (event.target.dataset.sentAt ?? 0) < 3000) return event.preventDefault();
  event.target.dataset.sentAt = now;
});

// What was typed into a form whose session had ended: after logging in again it is there, for the same person in the same tab.
// Passwords, files and hidden fields are never kept. The form of a push is kept by the server.
const person = document.querySelector("meta[name=person]")?.content ?? "";
const KEPT = "borealis.form";

function typed(form) {
  return [...form.elements].filter((field) => field.name && field.autocomplete !== "one-time-code" && !["password", "file", "hidden", "submit", "button"].includes(field.type));
}

function keepForm(form) {
  const values = typed(form).map((field) => [field.name, field.value, field.checked === true]);
  if (!person || !values.length || form.matches("[data-push-form]")) return;
  const kept = { person, page: location.pathname, action: form.action, values };
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // No storage: then a form that was refused has to be typed again.
  }
}

function restoreForm() {
  let kept;
  try {
    kept = JSON.parse(sessionStorage.getItem(KEPT));
    // Whoever is logged in sees it once, on the page where it was typed; the pages on the way leave it.
    if (!person) return;
    sessionStorage.removeItem(KEPT);
  } catch {
    return;
  }
  if (new URLSearchParams(location.search).get("notice") !== "unsent" || kept?.person !== person || kept.page !== location.pathname) return;
  const form = [...document.forms].find((each) => each.action === kept.action);
  if (form) fill(form, kept.values);
}

function fill(form, values) {
  for (const field of typed(form)) {
    const value = values.find(([name, value]) => name === field.name && (!["checkbox", "radio"].includes(field.type) || value === field.value));
    if (!value) continue;
    if (["checkbox", "radio"].includes(field.type)) field.checked = value[2];
    else field.value = value[1];
  }
}

document.addEventListener("submit", (event) => {
  if (!event.defaultPrevented && event.target.method === "post") keepForm(event.target);
});
restoreForm();

// What is typed into the form of a push, until it is submitted: reloading, leaving or going back in this tab does not lose it. The server
// keeps it from then on.
function keepDraft(form) {
  const key = `borealis.push ${form.action}`;
  const note = document.querySelector("[data-restored]");
  let timer = 0;

  function values() {
    return JSON.stringify(typed(form).map((field) => [field.name, field.value, field.checked === true]));
  }

  const fresh = values();
  try {
    const kept = JSON.parse(sessionStorage.getItem(key));
    if (kept?.person === person && kept.values !== fresh) {
      fill(form, JSON.parse(kept.values));
      if (note) note.hidden = false;
    }
  } catch {
    // No storage, or nothing that we wrote.
  }
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(save, 200);
  });
  addEventListener("pagehide", save);

  let isOver = false;
  function save() {
    if (isOver || !person) return;
    try {
      if (values() === fresh && !sessionStorage.getItem(key)) return;
      sessionStorage.setItem(key, JSON.stringify({ person, values: values() }));
    } catch {
      // No storage: then it is lost.
    }
  }

  function forget() {
    isOver = true;
    try {
      sessionStorage.removeItem(key);
    } catch {
      // No storage, so nothing is kept.
    }
  }
  form.addEventListener("submit", forget);
  note?.querySelector("button")?.addEventListener("click", () => {
    forget();
    location.assign(form.dataset.fresh);
  });
}

// Menus, and boxes that ask, close by a click elsewhere, by Escape, and when the focus leaves them.
function closePops(besides) {
  for (const pop of document.querySelectorAll(".pop[open], .sure[open]")) if (!pop.contains(besides)) pop.open = false;
}
document.addEventListener("click", (event) => closePops(event.target));
document.addEventListener("focusout", (event) => { if (event.relatedTarget) closePops(event.relatedTarget); });
document.addEventListener("keydown", (event) => {
  const pop = event.key === "Escape" && event.target.closest(".pop[open], .sure[open]");
  if (!pop) return;
  pop.open = false;
  pop.querySelector("summary").focus();
});

// Ctrl-K goes to the search field from anywhere.
document.addEventListener("keydown", (event) => {
  if (event.key !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  const field = document.querySelector(".finder input");
  if (!field) return;
  event.preventDefault();
  if (field.offsetParent) field.select();
  else document.querySelector(".finder-link").click();
});

// Replaces a part of the page; the focus in it and open details stay.
function replacePart(part, html) {
  const stops = "a[href], button, input, select, textarea, summary";
  const held = part.contains(document.activeElement) ? document.activeElement : null;
  const index = held ? [...part.querySelectorAll(stops)].indexOf(held) : -1;
  const open = [...part.querySelectorAll("details")].map((each) => each.open);
  part.innerHTML = html;
  part.querySelectorAll("details").forEach((each, number) => { each.open = open[number] ?? each.open; });
  if (!held) return;
  const all = [...part.querySelectorAll(stops)];
  const href = held.getAttribute("href");
  const same = href && all.find((each) => each.getAttribute("href") === href);
  (same || all[index])?.focus({ preventScroll: true });
}

// How far invitations' mail has come, until nothing of it waits.
function followMails(list) {
  let rounds = 0;
  async function refresh() {
    rounds += 1;
    try {
      const answer = await fetch(location.pathname + location.search);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = [...page.querySelectorAll(".invitation .mail-state")];
      const shown = [...list.querySelectorAll(".invitation .mail-state")];
      // Only what is said, not the forms that somebody may be using.
      if (answer.ok && fresh.length === shown.length) shown.forEach((each, number) => each.replaceWith(fresh[number]));
      if (answer.ok && !page.querySelector("[data-waiting]")) return;
    } catch {
      // The server may be restarting.
    }
    if (rounds < 30) setTimeout(refresh, Math.min(15000, 1000 * 1.3 ** rounds));
  }
  if (list.querySelector("[data-waiting]")) setTimeout(refresh, 700);
}

// What was just done is said once: a reload or a bookmark of the page does not say it again.
if (new URLSearchParams(location.search).has("notice")) {
  const address = new URL(location.href);
  address.searchParams.delete("notice");
  history.replaceState(null, "", address);
}

// Suggests names that the app uses while one is typed into a field that holds several (ARIA, "combobox with a list").
function suggest(field, form) {
  const list = Object.assign(document.createElement("ul"), { className: "suggestions", id: `${field.id}-names`, hidden: true });
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", form.dataset.suggestions);
  field.after(list);
  for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-expanded", "false"], ["aria-controls", list.id]]) field.setAttribute(name, value);
  let timer = 0;
  let latest = 0;
  let chosen = -1;

  // The name at the cursor: from the separator before it.
  function start() {
    return /[^,，\s]*$/.exec(field.value.slice(0, field.selectionStart)).index;
  }

  function show(names) {
    chosen = -1;
    list.replaceChildren(...names.map(({ name, devices }, number) => {
      const item = Object.assign(document.createElement("li"), { id: `${list.id}-${number}`, textContent: name });
      item.setAttribute("role", "option");
      item.append(Object.assign(document.createElement("span"), { className: "quiet", textContent: devices }));
      // Before the field loses the focus.
      item.addEventListener("mousedown", (event) => {
        event.preventDefault();
        take(name);
      });
      item.dataset.name = name;
      return item;
    }));
    list.hidden = !names.length;
    field.setAttribute("aria-expanded", String(!list.hidden));
    field.removeAttribute("aria-activedescendant");
  }

  function choose(number) {
    chosen = (number + list.children.length) % list.children.length;
    [...list.children].forEach((item, each) => item.setAttribute("aria-selected", String(each === chosen)));
    field.setAttribute("aria-activedescendant", list.children[chosen].id);
    list.children[chosen].scrollIntoView({ block: "nearest" });
  }

  function take(name) {
    const before = field.value.slice(0, start());
    const after = field.value.slice(field.selectionStart).replace(/^[^,，\s]*/, "");
    field.value = `${before}${name}${after || ", "}`;
    latest += 1;
    show([]);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    clearTimeout(timer);
  }

  async function ask() {
    const number = ++latest;
    const kind = field.name === "names" ? form.elements.audience.value : "tag";
    const text = field.value.slice(start(), field.selectionStart);
    if (!text || !["alias", "tag"].includes(kind)) return show([]);
    try {
      const answer = await fetch(`${form.dataset.names}?${new URLSearchParams({ kind, q: text })}`, { headers: scripted });
      const names = answer.ok ? (await answer.json()).names : [];
      if (number === latest && document.activeElement === field) show(names);
    } catch {
      // The next character asks again.
    }
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, 120);
  });
  field.addEventListener("keydown", (event) => {
    if (list.hidden || event.isComposing) return;
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen < 0 ? -1 : chosen - 1);
    else if (event.key === "Enter" && chosen >= 0) take(list.children[chosen].dataset.name);
    else if (event.key === "Escape") show([]);
    else return;
    event.preventDefault();
  });
  field.addEventListener("blur", () => show([]));
}

// How many devices a form means, while it is filled in.
function liveCount(form, address, change = () => {}) {
  const size = form.querySelector("[data-audience-size]");
  let timer = 0;
  let latest = 0;

  async function count() {
    const number = ++latest;
    const body = new URLSearchParams(new FormData(form));
    change(body);
    try {
      const answer = await fetch(address, { method: "POST", headers: scripted, body });
      const text = answer.ok ? (await answer.json()).text : "";
      // No number is better than that of other fields.
      if (number === latest) size.textContent = text;
    } catch {
      // The next change asks again.
    }
  }

  count();
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(count, 250);
  });
}

// The push form: the preview, and how many devices it reaches.
function pushForm(form) {
  function mirror() {
    for (const part of document.querySelectorAll("[data-mirror]")) {
      part.textContent = form.elements[part.dataset.mirror].value;
    }
  }

  // The device that this browser is, if it is one of the app's.
  function offerOwnDevice(button) {
    let device;
    try {
      device = JSON.parse(localStorage.getItem(`borealis.device.${button.dataset.ownDevice}`))?.registrationID;
    } catch {
      // No storage, or nothing that we wrote.
    }
    button.hidden = !device;
    button.addEventListener("click", () => {
      form.elements.audience.value = "registration";
      form.elements.names.value = device;
      form.dispatchEvent(new Event("input"));
    });
  }

  for (const name of ["names", "all_tags", "no_tags"]) suggest(form.elements[name], form);
  keepDraft(form);
  form.querySelectorAll("[data-own-device]").forEach(offerOwnDevice);
  form.addEventListener("input", mirror);
  mirror();
  liveCount(form, form.dataset.audience, (body) => {
    // Rules about the text do not matter for the audience.
    if (!body.get("text")) body.set("text", "?");
  });
}

// The result of a push while it changes.
function trace(section) {
  // The session ended, or the push is not this visitor's any more.
  const OVER = [401, 403, 404];
  let rounds = 0;
  let shown = "";
  const list = document.querySelector("[data-trace-targets]");
  let listed = "";
  async function refresh() {
    rounds += 1;
    let isOpen = true;
    try {
      const answer = await fetch(section.dataset.trace, { headers: scripted });
      if (answer.ok) {
        const state = await answer.json();
        if (shown !== state.html) {
          replacePart(section, shown = state.html);
          showTimes(section);
        }
        if (list && listed !== state.targets) replacePart(list, listed = state.targets);
        for (const part of document.querySelectorAll("[data-recall-text]")) part.textContent = state.recall;
        isOpen = state.open;
        for (const part of document.querySelectorAll("[data-while-open]")) part.hidden = !isOpen;
      } else if (OVER.includes(answer.status)) {
        for (const part of document.querySelectorAll("[data-trace-ended]")) part.hidden = false;
        return;
      }
    } catch {
      // The server may be restarting.
    }
    // Often at first, then ever more seldom; receipts come after deliveries.
    const pause = Math.min(30000, 1000 * 1.15 ** rounds);
    if (isOpen || rounds < 20) setTimeout(refresh, document.hidden ? 5000 : pause);
  }
  setTimeout(refresh, 700);
}

showTimes(document);
document.querySelectorAll("[data-push-form]").forEach(pushForm);
document.querySelectorAll("[data-count]").forEach((form) => liveCount(form, form.dataset.count));
document.querySelectorAll("[data-trace]").forEach(trace);
document.querySelectorAll("[data-mails]").forEach(followMails);
