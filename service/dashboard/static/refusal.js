// Tells a reader that the service refused: for want of a key with the form that asks for one, else with a notice.

export function refused(problem) {
  if (problem.status === 401 || problem.rule === "scope") askForKey(problem.message);
  else tell(problem.message);
}

function tell(message) {
  const notice = document.getElementById("notice");
  notice.textContent = message;
  notice.hidden = false;
}

function askForKey(message) {
  const dialog = document.getElementById("ask-key");
  dialog.querySelector("[data-why]").textContent = message;
  dialog.querySelector("[name=next]").value = location.pathname + location.search;
  dialog.showModal();
}
