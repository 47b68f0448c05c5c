// The reference of the API: Swagger UI with the samples of each operation.

const dark = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;
const paint = () => root.classList.toggle("dark-mode", (root.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark");
paint();
dark.addEventListener("change", paint);

// Puts the samples before the responses of an operation, each with a button that copies it.
function samples(Original, system) {
  const make = system.React.createElement;
  const sample = (each) => make("figure", { key: each.label, className: "sample" },
    make("figcaption", null, each.label, make("button", { type: "button", "data-copy": "", "aria-label": `Copy ${each.label}` }, "Copy")),
    make("pre", { tabIndex: 0 }, make("code", null, each.source)));
  return (props) => {
    const found = props.specSelectors.specJson().getIn(["paths", props.path, props.method, "x-codeSamples"]);
    return make("div", null, found ? found.toJS().map(sample) : null, make(Original, props));
  };
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.closest("figure").querySelector("code").textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(button.closest("figure").querySelector("code"));
    button.textContent = "Selected";
  }
  setTimeout(() => (button.textContent = "Copy"), 2000);
});

SwaggerUIBundle({
  url: document.getElementById("reference").dataset.contract,
  domNode: document.getElementById("reference"),
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  filter: true,
  validatorUrl: null,
  plugins: [{ wrapComponents: { responses: samples } }],
});
