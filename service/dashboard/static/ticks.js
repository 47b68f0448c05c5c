// Two rows of a table to compare: the button waits for two ticks, and a third cannot be set.

function two(form) {
  const ticks = [...form.elements].filter((field) => field.matches(".tick"));
  const set = ticks.filter((tick) => tick.checked).length;
  for (const tick of ticks) tick.disabled = set >= 2 && !tick.checked;
  form.hidden = ticks.length < 2;
  form.querySelector("button").disabled = set !== 2;
  form.querySelector("[role=status]").textContent = set === 2 ? "" : `Tick ${set === 0 ? "two" : "one more"} of the ${form.dataset.two}.`;
}
const allTwo = () => document.querySelectorAll("form[data-two]").forEach(two);
document.addEventListener("change", (event) => event.target.matches(".tick") && two(event.target.form));
addEventListener("pageshow", allTwo);

// What is ticked stays so when news comes.
const ticked = new Set();
for (const name of ["htmx:beforeSwap", "htmx:oobBeforeSwap"]) {
  document.body.addEventListener(name, () => {
    for (const tick of document.querySelectorAll(".tick")) tick.checked ? ticked.add(tick.id) : ticked.delete(tick.id);
  });
}
document.body.addEventListener("htmx:afterSettle", () => {
  for (const id of ticked) document.getElementById(id)?.toggleAttribute("checked", true);
  allTwo();
});
