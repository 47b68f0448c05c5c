// Parts that change by themselves: since when they could not, and where tables stand when they do.

import { askForKey } from "./refusal.js";

const stale = document.getElementById("stale");
let seen = new Date();

const REASONS = {
  0: "the service does not answer",
  401: "the service needs an API key that works",
  403: "the key that you signed in with is not for this",
  404: "the service no longer has it",
  429: "the service gets too many requests, and goes on by itself",
  503: "the service cannot reach its database",
};

document.body.addEventListener("htmx:afterRequest", (event) => {
  if (!stale) return;
  const { successful, xhr } = event.detail;
  if (successful) seen = new Date();
  else say(xhr.status);
  stale.hidden = successful;
});

function say(status) {
  const reason = REASONS[status] ?? `the service answered ${status}`;
  const text = `Not brought up to date since ${seen.toISOString().slice(11, 19)} UTC: ${reason}. What is shown is as it was then.`;
  if (stale.dataset.text === text && !stale.hidden) return; // said once, not with each look
  stale.dataset.text = text;
  stale.textContent = text;
  if (status !== 401 && status !== 403) return;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Sign in";
  button.addEventListener("click", () => askForKey({ status, message: `${reason[0].toUpperCase()}${reason.slice(1)}.` }));
  stale.append(" ", button);
}

// The answer of a part that a form shows beside its fields.
document.body.addEventListener("htmx:responseError", (event) => refuse(event.detail.elt, REASONS[event.detail.xhr.status]));
document.body.addEventListener("htmx:sendError", (event) => refuse(event.detail.elt, REASONS[0]));

function refuse(part, reason = "the service made a mistake") {
  if (!part.matches(".preview")) return;
  const told = document.createElement("p");
  told.className = "error";
  told.textContent = `The next times cannot be told now: ${reason}.`;
  part.replaceChildren(told);
}

// Tables that scroll stay where they are when news comes.
const scrolled = new Map();
for (const name of ["htmx:beforeSwap", "htmx:oobBeforeSwap"]) {
  document.body.addEventListener(name, () => {
    for (const region of document.querySelectorAll(".scroll[id]")) scrolled.set(region.id, [region.scrollLeft, region.scrollTop]);
  });
}
document.body.addEventListener("htmx:afterSettle", () => {
  for (const [id, [left, top]] of scrolled) document.getElementById(id)?.scrollTo(left, top);
});
