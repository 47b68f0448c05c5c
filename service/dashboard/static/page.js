// What every page does: the theme, the menu of small screens, buttons that ask the service, texts to copy.

import "./live.js";
import { keepPlace, leave } from "./focus.js";
import { post } from "./problem.js";
import { refused } from "./refusal.js";
import "./ticks.js";

const root = document.documentElement;
const THEMES = ["system", "light", "dark"];

const themeButton = document.getElementById("theme");

function showTheme() {
  const theme = root.dataset.theme ?? "system";
  themeButton.textContent = { system: "◐", light: "○", dark: "●" }[theme];
  themeButton.setAttribute("aria-label", `Theme: ${theme}. Change it`);
  themeButton.title = `Theme: ${theme}`;
}

themeButton.addEventListener("click", () => {
  const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "system") + 1) % THEMES.length];
  if (next === "system") delete root.dataset.theme;
  else root.dataset.theme = next;
  try {
    if (next === "system") localStorage.removeItem("theme");
    else localStorage.setItem("theme", next);
  } catch {
    // It counts for this page only.
  }
  showTheme();
  dispatchEvent(new Event("themechange"));
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => dispatchEvent(new Event("themechange")));
showTheme();

const menu = document.getElementById("menu");
menu.addEventListener("click", (event) => {
  const pages = document.getElementById("pages");
  const open = pages.classList.toggle("open");
  menu.setAttribute("aria-expanded", String(open));
  const byKeyboard = event.detail === 0;
  if (open && byKeyboard) pages.querySelector("a").focus(); // the links stand before the button, Tab would pass them
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || menu.getAttribute("aria-expanded") !== "true") return;
  menu.click();
  menu.focus();
});

// Buttons with data-post send it; data-confirm asks first, data-then is where to go on, else the page is told the news.

const notice = document.getElementById("notice");

document.addEventListener("click", async (event) => {
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    await copyText(copy);
    return;
  }
  if (event.target.closest("#ask-key [data-close]")) document.getElementById("ask-key").close();
  if (!event.target.closest("#notice")) notice.hidden = true;
  const button = event.target.closest("button[data-post]");
  if (button && (!button.dataset.confirm || confirm(button.dataset.confirm))) await act(button);
});

async function act(button) {
  button.disabled = true;
  try {
    const body = button.dataset.body ? JSON.parse(button.dataset.body) : undefined;
    const { answer } = await post(button.dataset.post, body, button.dataset.method);
    if (button.dataset.then) {
      location.assign(button.dataset.then.replace("{id}", encodeURIComponent(answer.id)));
    } else if (button.dataset.live === undefined) {
      keepPlace(button);
      location.reload();
    } else {
      leave(button);
      document.body.dispatchEvent(new Event("look"));
    }
  } catch (problem) {
    button.disabled = false;
    refused(problem, () => act(button));
  }
}

async function copyText(button) {
  const text = document.getElementById(button.dataset.copy).textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    const range = document.createRange();
    range.selectNodeContents(document.getElementById(button.dataset.copy));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = "Selected";
  }
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

// Fields that say nothing stay out of the address, so that it can be kept and read.
document.addEventListener("submit", (event) => {
  if (!event.target.matches("form.filters")) return;
  for (const field of event.target.elements) if (field.name && field.value === "") field.disabled = true;
});
addEventListener("pageshow", () => {
  for (const field of document.querySelectorAll("form.filters [disabled]")) field.disabled = false;
});
