// The job page: what a dot is on hover or by keyboard, news without a reload, and the cancel button.

import { post } from "./problem.js";

const LEAST_MS = 1000; // between two looks at the service
const POLL_MS = 2000; // when there is no event stream

const live = document.getElementById("live");
const tip = document.getElementById("tip");
const job = live.dataset.job;

// Tips. One listener for all dots: there are hundreds, and they come and go.

let current = null;
let place = -1; // of the dot last shown: kept while its tip is hidden by scrolling or by news

function show(dot) {
  hide();
  current = dot;
  place = [...live.querySelectorAll("#chart [data-tip]")].indexOf(dot);
  dot.classList.add("current");
  tip.textContent = dot.dataset.tip;
  tip.hidden = false;
  const at = dot.getBoundingClientRect();
  const box = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, at.left + at.width / 2 - box.width / 2), innerWidth - box.width - 8);
  const above = at.top - box.height - 10;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 8 ? above : at.bottom + 10}px`;
}

function hide() {
  current?.classList.remove("current");
  current = null;
  tip.hidden = true;
}

live.addEventListener("pointerover", (event) => {
  const dot = event.target.closest("[data-tip]");
  if (dot) show(dot);
  else if (current) hide();
});
live.addEventListener("pointerleave", hide);
live.addEventListener("focusout", hide);
addEventListener("scroll", hide, { passive: true });

live.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    hide();
    place = -1;
  }
  if (event.target.id !== "chart") return;
  const dots = [...event.target.querySelectorAll("[data-tip]")];
  const before = place < 0 ? dots.length - 1 : place - 1;
  const next = { ArrowRight: place + 1, ArrowLeft: before, Home: 0, End: dots.length - 1 };
  if (!(event.key in next) || dots.length === 0) return;
  event.preventDefault();
  show(dots[Math.min(Math.max(next[event.key], 0), dots.length - 1)]);
});

// News. The service draws; this only swaps the parts that changed.

const ending = new AbortController();
let streaming = false;
let timer = null;
let last = 0;

async function refresh() {
  timer = null;
  const began = performance.now();
  try {
    const response = await fetch(`/jobs/${job}/live${location.search}`);
    if (response.ok) swap(await response.text());
  } catch {
    // The service is away; the next look tries again.
  }
  // A long history takes longer to draw: look less often then, so that the service keeps up.
  last = performance.now() + 4 * (performance.now() - began);
  if (!active()) stop();
  else if (!streaming) schedule(POLL_MS);
}

function schedule(delay) {
  timer ??= setTimeout(refresh, Math.max(delay, last + LEAST_MS - performance.now()));
}

function swap(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  for (const part of fresh.querySelectorAll("[data-part]")) {
    const old = live.querySelector(`[data-part="${part.dataset.part}"]`);
    if (old.outerHTML === part.outerHTML) continue;
    const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
    const left = old.querySelector(".scroll")?.scrollLeft ?? 0;
    if (old.contains(current)) hide();
    old.replaceWith(document.adoptNode(part));
    const scroll = part.querySelector(".scroll");
    if (scroll) scroll.scrollLeft = left;
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }
}

function active() {
  return live.querySelector('[data-part="summary"]').dataset.active === "yes";
}

function stop() {
  ending.abort();
  clearTimeout(timer);
}

// Each piece of the event stream means that there is news. An EventSource could not say what has been seen
// already, and would be sent the whole history first.
async function listen() {
  const headers = live.dataset.seen === "-1" ? {} : { "Last-Event-ID": live.dataset.seen };
  try {
    const response = await fetch(`/v1/jobs/${job}/events`, { headers, signal: ending.signal });
    streaming = response.ok;
    const pieces = response.body.getReader();
    while (streaming && !(await pieces.read()).done) schedule(0);
  } catch {
    // Broken off: looking from time to time takes over.
  }
  streaming = false;
  if (!ending.signal.aborted) schedule(POLL_MS);
}

if (active()) {
  listen();
  addEventListener("pagehide", stop);
}

live.addEventListener("click", async (event) => {
  const button = event.target.closest("#cancel");
  if (!button) return;
  button.disabled = true;
  try {
    await post(`/v1/jobs/${job}/cancel`);
    schedule(0);
  } catch (problem) {
    const error = document.getElementById("cancel-error");
    error.textContent = problem.message;
    error.hidden = false;
    button.disabled = false;
  }
});
