// Forms that send JSON to the service: a field's name is its path in the body ("job.budget.trials"), data-then is where
// to go on. Fields that are empty or disabled stay out; a [data-chooses] shows the parts that are of its choice. A form
// that changes what is there has that as data-stored: a field that nobody touched leaves it as it is, to the last digit.

import { keepPlace } from "./focus.js";
import { post } from "./problem.js";
import { refused, wantsKey } from "./refusal.js";

// What each field was when its form opened.
const opened = new Map();

// By its exponent: a division would change the last digit of some.
function hundredth(text) {
  const [digits, exponent] = text.split(/e/i);
  return Number(`${digits}e${Number(exponent ?? 0) - 2}`);
}

function value(field) {
  if (field.type === "checkbox") return field.checked;
  const text = field.value.trim();
  if (text === "") return undefined;
  if (field.dataset.list !== undefined) return text.split(",").map((part) => part.trim()).filter((part) => part !== "");
  if (field.dataset.json !== undefined) return JSON.parse(text);
  if (field.dataset.part !== undefined) return hundredth(text);
  return field.type === "number" ? Number(text) : text;
}

function put(body, path, what) {
  const names = path.split(".");
  const last = names.pop();
  for (const name of names) body = body[name] ??= {};
  body[last] = what;
}

const at = (body, path) => path.split(".").reduce((part, name) => part?.[name], body);

// With what it leaves empty: of a kind of work that was given up nothing stays.
function drop(body, path) {
  const [name, ...rest] = path.split(".");
  if (rest.length > 0 && body[name]) drop(body[name], rest.join("."));
  if (rest.length === 0 || Object.keys(body[name] ?? {}).length === 0) delete body[name];
}

const state = (field) => JSON.stringify([field.matches(":disabled"), field.checked, field.value]);
const stored = (form) => JSON.parse(form.dataset.stored ?? "{}");
const keeps = (field, body) => state(field) === opened.get(field) && at(body, field.name) !== undefined;

function request(form) {
  const body = stored(form);
  const named = [...form.elements].filter((field) => field.name);
  for (const field of named) {
    const what = field.matches(":disabled") ? undefined : value(field);
    if (keeps(field, body)) continue;
    if (what === undefined) drop(body, field.name);
    else put(body, field.name, what);
  }
  for (const field of named) {
    const also = field.matches(":disabled") ? undefined : field.dataset.also;
    if (also && !form.elements.namedItem(also)?.value) put(body, also, value(field));
  }
  return body;
}

function choose(select) {
  for (const part of select.form.querySelectorAll(`[data-of^="${select.dataset.chooses}="]`)) {
    const chosen = part.dataset.of.split("=")[1].split("|").includes(select.value);
    const kept = part.dataset.kept !== undefined && select.form.dataset.stored !== undefined;
    part.hidden = !chosen;
    const fields = part.matches("fieldset") ? [part] : part.querySelectorAll("input, select, textarea");
    for (const field of fields) field[kept ? "readOnly" : "disabled"] = !chosen;
  }
}

function fail(form, message, wrong) {
  const told = form.querySelector("[data-wrong]");
  for (const field of wrong) {
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", told.id);
  }
  told.textContent = message;
  told.hidden = false;
  wrong[0]?.closest("details")?.setAttribute("open", "");
  const label = wrong[0]?.closest("label");
  if (label) label.after(told); // the end of a long form is out of sight
  else form.append(told);
  wrong[0]?.focus();
  told.scrollIntoView({ block: "nearest" });
}

function clear(form) {
  form.querySelector("[data-wrong]").hidden = true;
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  }
}

const fieldsOf = (form) => [...form.elements].filter((field) => field.name && !field.matches(":disabled"));
// A fault of a list's entry is one of the field that has the list.
const lastOf = (path) => path.replace(/\.\d+(\..*)?$/, "").split(".").at(-1);
const fieldOf = (form, fault) => fieldsOf(form).find((field) => field.name.split(".").at(-1) === lastOf(fault.field));
const labelOf = (field) => field.labels[0].firstChild.textContent.trim();

async function send(form) {
  clear(form);
  const body = stored(form);
  const wrong = fieldsOf(form).filter((field) => !keeps(field, body) && !field.checkValidity());
  if (wrong.length > 0) {
    fail(form, wrong.map((field) => `${labelOf(field)}: ${field.validationMessage}`).join("\n"), wrong);
    return;
  }
  const button = form.querySelector("[type=submit]");
  const progress = form.querySelector("[data-progress]");
  button.disabled = true;
  progress.textContent = "Sending…";
  try {
    const { answer } = await post(form.dataset.json, request(form), form.dataset.method);
    const next = form.dataset.then.replace("{id}", encodeURIComponent(answer.id));
    if (new URL(next, location.href).pathname === location.pathname) {
      keepPlace(form);
      location.reload();
    } else {
      location.assign(next);
    }
  } catch (problem) {
    if (wantsKey(problem)) refused(problem, () => send(form));
    else {
      const faults = (problem.faults ?? []).map((fault) => [fieldOf(form, fault), fault.message]);
      // Told by the labels of the form, if it has a field for each.
      const known = faults.length > 0 && faults.every(([field]) => field);
      const message = known ? faults.map(([field, said]) => `${labelOf(field)}: ${said}`).join("\n") : problem.message;
      fail(form, message, faults.map(([field]) => field).filter((field) => field));
    }
    button.disabled = false;
  }
  progress.textContent = "";
}

for (const form of document.querySelectorAll("form[data-json]")) {
  for (const select of form.querySelectorAll("[data-chooses]")) choose(select);
  for (const field of form.elements) opened.set(field, state(field));
  form.addEventListener("change", (event) => event.target.matches("[data-chooses]") && choose(event.target));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}
