// The form that starts a job: checks what the browser can, sends JSON, shows what the service says.

import { post } from "./problem.js";
import { refused } from "./refusal.js";

const form = document.getElementById("start-job");
const status = document.getElementById("start-status");
const error = document.getElementById("start-error");
const button = form.querySelector("button");

function number(name) {
  const text = form.elements[name].value.trim();
  return text === "" ? undefined : Number(text);
}

function request() {
  const dtype = form.elements.dtype.value;
  const output = form.elements.dtype_c.value;
  return {
    problem: {
      m: number("m"),
      n: number("n"),
      k: number("k"),
      dtype_a: dtype,
      dtype_b: dtype,
      dtype_c: output === "input" ? dtype : null,
    },
    device: form.elements.device.value,
    target: form.elements.target.value || null,
    budget: { trials: number("trials"), seconds: number("seconds") },
  };
}

function fail(message, fields) {
  for (const input of form.querySelectorAll("input")) {
    if (fields.includes(input.name)) {
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-describedby", "start-error");
    }
  }
  error.textContent = message;
  error.hidden = false;
  form.querySelector("[aria-invalid]")?.focus();
}

function clear() {
  error.hidden = true;
  for (const input of form.querySelectorAll("[aria-invalid]")) {
    input.removeAttribute("aria-invalid");
    input.removeAttribute("aria-describedby");
  }
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  clear();
  const wrong = [...form.querySelectorAll("input")].filter((input) => !input.checkValidity());
  if (wrong.length > 0) {
    const lines = wrong.map((input) => `${input.parentElement.firstChild.textContent.trim()}: ${input.validationMessage}`);
    fail(lines.join("\n"), wrong.map((input) => input.name));
    return;
  }
  button.disabled = true;
  status.textContent = "Sending…";
  try {
    const { answer } = await post("/v1/jobs", request());
    location.assign(`/jobs/${encodeURIComponent(answer.id)}`);
  } catch (problem) {
    if (problem.status === 401 || problem.rule === "scope") refused(problem);
    else fail(problem.message, problem.fields ?? []);
    button.disabled = false;
  }
  status.textContent = "";
});
