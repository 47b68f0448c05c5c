// Tells a reader that the service refused: for want of a key with the form that asks for one, else with a notice.

// `again` does once more what was refused, when a key that works was given: what was typed stays as it is.
export function refused(problem, again = null) {
  if (wantsKey(problem)) askForKey(problem, again);
  else tell(problem.message);
}

export const wantsKey = (problem) => problem.status === 401 || problem.rule === "scope";

function tell(message) {
  const notice = document.getElementById("notice");
  notice.textContent = message;
  notice.hidden = false;
}

let waiting = null;

export function askForKey(problem, again = null) {
  const dialog = document.getElementById("ask-key");
  waiting = again;
  dialog.querySelector("h2").textContent = problem.rule === "scope" ? "This needs another API key" : "API key required";
  dialog.querySelector("[data-why]").textContent = problem.message;
  dialog.querySelector("[data-wrong]").hidden = true;
  if (!dialog.open) dialog.showModal();
}

// A form that signs in: the dialog's page stays and goes on, any other goes to the page that asked.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.getAttribute("action") !== "/session") return;
  event.preventDefault();
  const wrong = await signIn(form);
  const told = form.querySelector("[data-wrong]");
  told.textContent = wrong ?? "";
  told.hidden = wrong === null;
  form.key.setAttribute("aria-invalid", String(wrong !== null));
  if (wrong !== null) {
    form.key.setAttribute("aria-describedby", told.id);
    form.key.select();
    return;
  }
  const dialog = form.closest("dialog");
  if (!dialog) {
    location.replace(location.origin + form.next.value);
    return;
  }
  form.reset();
  dialog.close();
  document.getElementById("sign-out").hidden = false;
  document.body.dispatchEvent(new Event("look"));
  dispatchEvent(new Event("signedin"));
  waiting?.();
});

// Null when the key works, else what is wrong with it.
async function signIn(form) {
  let answer;
  try {
    answer = await fetch(form.action, { method: "POST", headers: { Accept: "application/json" }, body: new URLSearchParams(new FormData(form)) });
  } catch {
    return "The service does not answer. Is it still running?";
  }
  if (answer.ok) return null;
  try {
    return (await answer.json()).detail;
  } catch {
    return `The service answered ${answer.status}.`;
  }
}
