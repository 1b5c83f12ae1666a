/* The board's page: follow the socket, fetch what changed, keep what the person is doing.
   Everything is drawn by the server; htmx does the requests and the morphing. */
"use strict";

const desk = document.getElementById("desk");
const dialog = document.getElementById("dialog");
const panel = document.getElementById("panel");
const live = document.getElementById("live");
const language = document.documentElement.lang;

/* --- Fragments: one request at a time, for all that has changed meanwhile ------------------- */

const wanted = new Set();
let asked = null; /* the names that are on their way, and the socket that they go through */

function shown(name) {
  return document.querySelector(`[data-fragment="${CSS.escape(name)}"]`);
}

function refresh(names) {
  for (const name of names) if (name !== "activity" && shown(name)) wanted.add(name);
  if (names.includes("activity")) later ||= setTimeout(refreshActivity, 400);
  fetchWanted();
}

/* What happened is told after what is: a storm of changes draws it twice a second at most. */
let later = 0;

function refreshActivity() {
  later = 0;
  wanted.add("activity");
  fetchWanted();
}

/* Through the socket; by a request of its own while that is away. */
async function fetchWanted() {
  if (asked || !wanted.size) return;
  const names = [...wanted].slice(0, 100);
  names.forEach((name) => wanted.delete(name));
  asked = { names, through: socket.readyState === WebSocket.OPEN ? socket : null };
  if (asked.through) return socket.send(JSON.stringify({ draw: names }));
  const query = new URLSearchParams(names.map((name) => ["n", name]));
  const response = await fetch(`${desk.dataset.fragments}?${query}`).catch(() => null);
  if (response?.status === 401) return location.reload();
  const html = response?.ok ? await response.text().catch(() => null) : null;
  if (html === null) setTimeout(askAgain, 1000);
  else await arrived(html);
}

async function arrived(html) {
  const typing = halfTyped();
  try {
    await htmx.swap({ sourceElement: desk, target: desk, swap: "none", text: changedItems(html) });
    keepTyping(typing);
    drawn();
  } finally {
    asked = null; /* whatever went wrong with this one, the next is drawn */
    fetchWanted();
  }
}

function askAgain() {
  asked.names.forEach((name) => wanted.add(name));
  asked = null;
  fetchWanted();
}

/* A card, a question or a line of activity that is drawn as it was is left alone: reading and
   walking through all of them took most of the time that a change takes. */
const ITEM = /<(article|button|li) [^>]*?id="((?:card-task|card-question|question|event)-\d+)".*?<\/\1>/gs;
const drawnAs = new Map();

function changedItems(html) {
  if (drawnAs.size > 2000) drawnAs.clear();
  return html.replace(ITEM, (item, tag, id) => {
    const same = drawnAs.get(id) === item && document.getElementById(id);
    drawnAs.set(id, item);
    return same ? `<${tag} id="${id}" data-same></${tag}>` : item;
  });
}

htmx.registerExtension("same-items", {
  htmx_before_morph_node: (_node, { newNode }) => !newNode.hasAttribute("data-same"),
});

/* A card may go while someone types in it (another person was faster): the text stays. */
function halfTyped() {
  return [...document.querySelectorAll(".card")].filter((card) =>
    [...card.querySelectorAll("textarea")].some((area) => area.value.trim()));
}

function keepTyping(cards) {
  for (const card of cards) {
    if (card.isConnected || document.getElementById(card.id)) continue;
    drawnAs.delete(card.id);
    card.id = `kept-${card.id}`; /* what waits may come back: that is another card */
    card.querySelector(".refusal").replaceChildren(document.getElementById("gone").content.cloneNode(true));
    document.querySelector("#for-you .kept").append(card);
    htmx.process(card);
  }
}

/* --- Socket: resume from the last event, tell when the line is broken ---------------------- */

let last = desk.dataset.last;
let socket = null;
let heard = 0;
let pause = 250;
let leaving = false; /* signed out on this very page, which goes where the form leads */

addEventListener("beforeunload", () => { leaving = true; });

function connect() {
  socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws/board?last=${last}`);
  socket.onopen = () => { heard = Date.now(); pause = 250; live.dataset.state = "live"; live.textContent = live.dataset.live; };
  socket.onmessage = (message) => {
    heard = Date.now();
    const { last: newest, fragments, refresh: all, html } = JSON.parse(message.data);
    if (html !== undefined) arrived(html);
    if (newest) last = Math.max(last, newest);
    if (all) refreshAll();
    else if (fragments) refresh(fragments);
  };
  socket.onclose = (closed) => {
    live.dataset.state = "broken";
    live.textContent = live.dataset.broken;
    if (closed.code === 4401) return leaving || location.reload();
    if (asked?.through === closed.target) askAgain();
    setTimeout(connect, pause + Math.random() * 250);
    pause = Math.min(pause * 2, 4000);
  };
}

function refreshAll() {
  refresh([...document.querySelectorAll("[data-fragment]")].map((part) => part.dataset.fragment));
}

setInterval(() => {
  if (Date.now() - heard > 60_000 && socket.readyState === WebSocket.OPEN) socket.close();
}, 10_000);

/* --- After drawing: times in words, presence, the count in the title and on the icon ------- */

const words = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });

function ago(date) {
  const seconds = Math.max(0, (Date.now() - new Date(date)) / 1000);
  for (const [unit, length] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (seconds >= length) return words.format(-Math.floor(seconds / length), unit);
  }
  return desk.dataset.now;
}

function age() {
  for (const time of document.querySelectorAll("time[data-ago]")) {
    const text = ago(time.dateTime);
    if (time.textContent !== text) time.textContent = text;
  }
  for (const dot of document.querySelectorAll(".presence[data-seen]")) {
    const seconds = (Date.now() - new Date(dot.dataset.seen)) / 1000;
    dot.dataset.bucket = seconds <= desk.dataset.active ? "active" : seconds <= desk.dataset.idle ? "idle" : "stale";
  }
}

/* Browser notifications, for those who asked for them: when more waits than before, unseen. */
let waiting = Infinity;

function notify(count) {
  if (localStorage.getItem("handoff-notify") !== "yes" || Notification.permission !== "granted") return;
  try {
    const notice = new Notification(desk.dataset.title, { body: desk.dataset.waiting.replace("0", count), tag: "handoff" });
    notice.onclick = () => { window.focus(); notice.close(); };
  } catch { /* some phones allow it to service workers alone */ }
}

async function switchNotices(button) {
  const on = localStorage.getItem("handoff-notify") !== "yes" && (await Notification.requestPermission()) === "granted";
  localStorage.setItem("handoff-notify", on ? "yes" : "no");
  button.setAttribute("aria-pressed", on);
}

const decided = new Set([...document.querySelectorAll(".plan[data-deciding]")].map((plan) => plan.id));

function drawn() {
  age();
  for (const plan of document.querySelectorAll(".plan[data-deciding]")) {
    if (!decided.has(plan.id)) plan.querySelector("details").open = true; /* its turn has come */
    decided.add(plan.id);
  }
  for (const part of document.querySelectorAll("[data-color]")) part.style.setProperty("--session", part.dataset.color);
  const count = Number(document.getElementById("for-you").dataset.count);
  if (count > waiting && document.hidden) notify(count);
  waiting = count;
  openLinked();
  clearTimeout(labelling);
  labelling = setTimeout(label, 500, count);
}

/* The tab's own title and icon come after what is on the page. */
let labelling = 0;

function label(count) {
  const title = (count ? `(${count}) ` : "") + desk.dataset.title;
  if (document.title === title) return;
  document.title = title;
  const badge = count ? `<circle cx="23" cy="9" r="9" fill="#dc2626"/><text x="23" y="13.5" font-family="sans-serif" font-size="12" font-weight="700" text-anchor="middle" fill="#fff">${count > 9 ? "9+" : count}</text>` : "";
  const icon = "data:image/svg+xml," + encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#4f46e5"/><path d="M9 11h9l-3-3m8 13h-9l3 3" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/>${badge}</svg>`);
  const link = document.querySelector("link[rel=icon]");
  if (link.href !== icon) link.href = icon;
}

setInterval(age, 15_000);
/* Silence grows without an event: a session becomes stale, a current step is forgotten. */
setInterval(() => {
  const current = [...document.querySelectorAll(".step.current")].map((step) => step.dataset.fragment);
  refresh(["for-you", ...current]);
}, 60_000);

/* --- What htmx asks of the page ------------------------------------------------------------ */

/* An action that succeeded names what it changed: drawn at once, without waiting for the socket. */
document.body.addEventListener("board:changed", (event) => {
  if (event.detail.close && dialog.open) dialog.close();
  event.target.closest("form")?.reset(); /* what was typed has been sent */
  event.target.closest(".card, .step, .plan")?.querySelectorAll(".refusal").forEach((said) => said.replaceChildren());
  refresh(event.detail.fragments);
});

/* Watched, not told: a swap that replaces the element which asked for it tells nobody. */
new MutationObserver(() => {
  if (dialog.childElementCount && !dialog.open) dialog.showModal();
  modeChanged();
  dialog.querySelector("[role=alert]")?.closest(".field")?.querySelector("input, textarea, select")?.focus();
}).observe(dialog, { childList: true });

new MutationObserver((changes) => {
  panel.hidden = !panel.childElementCount;
  /* Opened, not redrawn by what others do: a focus elsewhere stays there. */
  if (changes.some((change) => change.target === panel)) panel.querySelector("[data-first]")?.focus(); /* not autofocus: htmx would take the focus once more, later */
  age();
}).observe(panel, { childList: true, subtree: true });

dialog.addEventListener("close", () => dialog.replaceChildren());

document.addEventListener("toggle", (event) => {
  const lazy = event.target.open && event.target.querySelector(":scope > [data-keep] > [data-lazy]");
  if (lazy) refresh([lazy.dataset.fragment]);
}, true);

/* --- Clicks, keys, drag -------------------------------------------------------------------- */

let opener = null;

document.addEventListener("click", (event) => {
  const control = event.target.closest("[data-do]");
  if (event.target.closest("[data-hx-get]")) opener = event.target.closest("[data-hx-get]").id;
  if (!event.target.closest(".menu")) document.querySelectorAll(".menu[open]").forEach((menu) => { menu.open = false; });
  if (!control) return;
  if (control.dataset.do === "close-dialog") dialog.close();
  if (control.dataset.do === "close-panel") closePanel();
  if (control.dataset.do === "dismiss") control.closest(".card").remove();
  if (control.dataset.do === "theme") setTheme(control.value);
  if (control.dataset.do === "notices") switchNotices(control);
  if (control.dataset.do === "show-column") document.getElementById(control.value).scrollIntoView({ inline: "start", block: "nearest" });
});

function closePanel() {
  if (location.hash.startsWith("#question-")) history.replaceState(history.state, "", location.pathname + location.search);
  panel.replaceChildren();
  panel.hidden = true;
  document.getElementById(opener)?.focus();
}

function setTheme(theme) {
  if (theme === "auto") { delete document.documentElement.dataset.theme; localStorage.removeItem("handoff-theme"); return; }
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("handoff-theme", theme);
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, dialog");
  if ((event.key === "/" && !typing) || (event.key === "k" && (event.ctrlKey || event.metaKey))) {
    event.preventDefault();
    document.getElementById("search").select();
  }
  if (event.key === "Escape") {
    const menu = event.target.closest(".menu[open]");
    if (menu) { menu.open = false; menu.querySelector("summary").focus(); return; }
    if (event.target.id === "search") { event.target.value = ""; document.getElementById("results").replaceChildren(); }
    else if (!dialog.open && !panel.hidden) closePanel();
  }
  const step = event.target.closest(".step");
  if (step && event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
    event.preventDefault();
    step.querySelector(event.key === "ArrowUp" ? "[data-move=up]" : "[data-move=down]")?.click();
  }
});

/* Only the fields of the chosen validation mode are shown, and sent. */
function modeChanged() {
  const mode = dialog.querySelector("[name=check]");
  if (!mode) return;
  for (const fields of dialog.querySelectorAll("[data-for]")) {
    const applies = fields.dataset.for.split(" ").includes(mode.value);
    fields.hidden = fields.disabled = !applies;
  }
}
document.addEventListener("change", modeChanged);

let dragged = null;

document.addEventListener("dragstart", (event) => {
  dragged = event.target.closest?.(".step[draggable=true]");
  if (!dragged) return;
  dragged.classList.add("dragging");
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", dragged.id);
});

function stepBelow(event) {
  const step = event.target.closest?.(".step, .step-end");
  return step && dragged && step !== dragged && step.parentNode === dragged.parentNode ? step : null;
}

document.addEventListener("dragover", (event) => {
  const step = stepBelow(event);
  document.querySelectorAll(".over").forEach((other) => other.classList.toggle("over", other === step));
  if (!step) return;
  event.preventDefault();
  step.classList.add("over");
});

document.addEventListener("drop", (event) => {
  const step = stepBelow(event);
  if (!step) return;
  event.preventDefault();
  htmx.ajax("POST", dragged.dataset.moveTo, {
    source: dragged, target: dragged.closest(".plan").querySelector(".refusal"), swap: "innerHTML",
    values: { before: step.dataset.task ?? "" },
  });
});

document.addEventListener("dragend", () => {
  dragged?.classList.remove("dragging");
  document.querySelectorAll(".over").forEach((step) => step.classList.remove("over"));
  dragged = null;
});

/* A search result, a reference in a text, or an address ending in #task-12 or #question-12:
   open what holds it, then show it. */
let opened = "";

function openLinked() {
  const [id, kind, number] = location.hash.match(/^#(task|plan|question)-(\d+)$/) ?? [];
  if (!id || id === opened) return;
  if (kind === "question") {
    opened = id;
    return htmx.ajax("GET", desk.dataset.thread.replace("/0", `/${number}`), { target: panel, swap: "innerHTML" });
  }
  const found = document.getElementById(id.slice(1));
  if (!found) return;
  opened = id;
  for (let part = found.querySelector("details"); part; part = part.parentElement.closest("details")) part.open = true;
  found.scrollIntoView({ block: "center", inline: "center" });
  found.querySelector("summary")?.focus();
}

addEventListener("hashchange", () => {
  opened = "";
  const id = location.hash.slice(1);
  /* A step of a plan whose steps are not here: the server opens that plan. */
  if (/^task-\d+$/.test(id) && !document.getElementById(id) && !awaited) location.assign(`/?task=${id.slice(5)}#${id}`);
  else openLinked();
});

let awaited = false; /* a search result's plan is being opened: its step is on its way */

document.addEventListener("click", (event) => {
  const result = event.target.closest("#results a");
  if (!result) return;
  document.getElementById("results").replaceChildren();
  opened = "";
  const plan = document.querySelector(`#plan-${result.dataset.plan} > details`);
  awaited = Boolean(plan);
  if (plan) plan.open = true; /* its steps are fetched, then `drawn` finds the one linked */
});

document.querySelector("[data-do=notices]").setAttribute("aria-pressed", localStorage.getItem("handoff-notify") === "yes");
drawn();
connect();
