// The form that sends a file to be x-rayed: the answer is a part of the page, which takes the focus.

import { upload } from "./problem.js";
import { refused, wantsKey } from "./refusal.js";

const form = document.getElementById("xray");
const result = document.getElementById("xray-result");
const told = form.querySelector("[data-wrong]");
const progress = form.querySelector("[data-progress]");
const button = form.querySelector("[type=submit]");

function fail(message, field = null) {
  told.textContent = message;
  told.hidden = false;
  field?.setAttribute("aria-invalid", "true");
  field?.setAttribute("aria-describedby", told.id);
  field?.focus();
}

function clear() {
  told.hidden = true;
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  }
}

function address(file) {
  const query = new URLSearchParams({ name: file.name.slice(-200) });
  for (const field of form.elements) {
    if (field.name && field.type !== "file" && field.value.trim() !== "") query.set(field.name, field.value.trim());
  }
  return `${form.getAttribute("action")}?${query}`;
}

async function send() {
  clear();
  const [file] = form.elements.file.files;
  const wrong = [...form.elements].find((field) => field.name && !field.checkValidity());
  if (!file || wrong) {
    const field = file ? wrong : form.elements.file;
    fail(`${field.labels[0].firstChild.textContent.trim()}: ${field.validationMessage}`, field);
    return;
  }
  button.disabled = true;
  progress.textContent = "Reading the file. A large one takes a minute…";
  result.replaceChildren();
  try {
    result.innerHTML = await upload(address(file), file);
    result.querySelector("h2")?.focus();
  } catch (problem) {
    if (wantsKey(problem)) refused(problem, send);
    else fail(problem.message, [...form.elements].find((field) => problem.faults?.some((fault) => fault.field.split(".").at(-1) === field.name)));
  }
  progress.textContent = "";
  button.disabled = false;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
