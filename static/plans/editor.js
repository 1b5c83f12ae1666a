/* The plan editor: rows that move, come and go; fields that follow the chosen check. */
"use strict";

/* Only the fields of the chosen check are shown. */
function followCheck(scope) {
  for (const check of scope.querySelectorAll("select[name$=check]")) {
    const box = check.closest(".step-fields, form");
    for (const field of box.querySelectorAll("[data-for]")) {
      field.hidden = !field.dataset.for.split(" ").includes(check.value);
    }
    if (box.matches("form")) followInTheme(box, check);
  }
}

/* A step's own page is drawn by the theme: its lines have no data-for, its names do. */
function followInTheme(form, check) {
  const lists = JSON.parse(document.getElementById("fields-of")?.textContent || "{}");
  const shown = lists[check.value] || [];
  for (const name of new Set(Object.values(lists).flat())) {
    const line = form.querySelector(`.field-${name}`);
    if (line) line.hidden = !shown.includes(name);
  }
}

const rowsOf = (list) => [...list.querySelectorAll(":scope > .step-row")];

function say(text) {
  document.getElementById("steps-said").textContent = text;
}

function move(row, direction) {
  const other = direction === "up" ? row.previousElementSibling : row.nextElementSibling;
  if (!other) return;
  if (direction === "up") other.before(row);
  else other.after(row);
  const number = row.querySelector(".step-number").textContent;
  say(`${number}: ${rowsOf(row.parentElement).indexOf(row) + 1}`);
  unsaved();
  row.querySelector(`[data-move=${direction}]`).focus();
}

/* The theme warns about fields that were typed in; an order is none. */
function unsaved() {
  document.querySelector("[name=steps-order]")?.dispatchEvent(new Event("input", { bubbles: true }));
}

let added = 0;

function addStep() {
  const list = document.querySelector(".step-rows");
  while (list.querySelector(`[data-step="new-${added}"]`)) added += 1;
  const template = document.getElementById("new-step").innerHTML.replaceAll("__n__", added);
  list.insertAdjacentHTML("beforeend", template);
  const row = list.lastElementChild;
  row.dataset.touched = "";
  followCheck(row);
  row.querySelector("input[name$=title]").focus();
  added += 1;
}

async function preview(button) {
  const box = button.nextElementSibling;
  const body = new FormData();
  body.set("text", document.getElementById(button.dataset.previewOf).value);
  const token = button.closest("form").querySelector("[name=csrfmiddlewaretoken]").value;
  const url = document.getElementById("steps").dataset.preview;
  const answer = await fetch(url, { method: "POST", body, headers: { "X-CSRFToken": token } });
  if (answer.ok) box.innerHTML = await answer.text();
  box.hidden = !answer.ok;
}

/* Rows left alone send their version only: a long plan stays a small request. */
function trim(form) {
  const list = form.querySelector(".step-rows");
  if (!list) return;
  const rows = rowsOf(list);
  form.querySelector("[name=steps-order]").value = rows.map((row) => row.dataset.step).join(",");
  for (const row of rows) {
    for (const field of row.querySelectorAll(".step-fields [name]")) {
      field.disabled = !("touched" in row.dataset);
    }
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.confirm && !window.confirm(button.dataset.confirm)) event.preventDefault();
  if (button.id === "add-step") addStep();
  if (button.dataset.move) move(button.closest(".step-row"), button.dataset.move);
  if ("remove" in button.dataset) button.closest(".step-row").remove();
  if (button.dataset.previewOf) preview(button);
});

document.addEventListener("input", (event) => {
  const row = event.target.closest(".step-row");
  if (row && event.target.closest(".step-fields")) row.dataset.touched = "";
});

document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (form && event.target.name.endsWith("check")) followCheck(event.target.closest(".step-row") || form);
});

document.addEventListener("keydown", (event) => {
  const row = event.target.closest(".step-row");
  const direction = { ArrowUp: "up", ArrowDown: "down" }[event.key];
  if (!row || !event.altKey || !direction || !row.querySelector("[data-move]")) return;
  event.preventDefault();
  move(row, direction);
});

document.addEventListener("steps:moved", unsaved);

document.addEventListener("submit", (event) => {
  if (event.target.id === "plan_form") trim(event.target);
});

/* Back from another page, the browser shows this one as it was left. */
window.addEventListener("pageshow", () => {
  for (const field of document.querySelectorAll(".step-fields [name]:disabled")) field.disabled = false;
});

document.addEventListener("DOMContentLoaded", () => followCheck(document));
