// Whoever uses the keyboard goes on where they were, when the page is loaded anew or a part of it is replaced.

const KEY = "place";

// The buttons of one thing have addresses that begin alike: /v1/schedules/ID/run, /v1/schedules/ID/pause.
const ofOneThing = (address) => {
  const begin = address.slice(0, address.lastIndexOf("/") + 1);
  return [...document.querySelectorAll("button[data-post]")].filter((button) => button.dataset.post.startsWith(begin));
};

// Before the page is loaded anew: the button that asked for it, or what took its place, gets the focus again; where
// neither is there any more, the heading of its section.
export function keepPlace(element) {
  const { post = "", method } = element.dataset;
  const place = { path: location.pathname, post: method ? "" : post, section: sectionOf(element)?.id };
  if (place.post) place.at = ofOneThing(post).indexOf(element);
  try {
    sessionStorage.setItem(KEY, JSON.stringify(place));
  } catch {
    // The page begins at its top then.
  }
}

function takePlace() {
  let place = null;
  try {
    place = JSON.parse(sessionStorage.getItem(KEY));
    sessionStorage.removeItem(KEY);
  } catch {
    return;
  }
  if (place?.path !== location.pathname) return;
  const button = place.post ? ofOneThing(place.post)[place.at] : null;
  if (button) button.focus();
  else focusSection(document.getElementById(place.section) ?? document.getElementById("main"));
}

const sectionOf = (element) => element.closest("section[id]");

function focusSection(section) {
  const target = section.querySelector("h1, h2, h3") ?? section;
  target.tabIndex = -1;
  target.focus();
}

takePlace();

// A live part that is replaced may take what had the focus with it.
let left = null;
export const leave = (element) => (left = sectionOf(element)?.id ?? null);
for (const name of ["htmx:beforeSwap", "htmx:oobBeforeSwap"]) {
  document.body.addEventListener(name, () => {
    if (document.activeElement !== document.body) leave(document.activeElement);
  });
}
document.body.addEventListener("htmx:afterSettle", () => {
  const section = left === null ? null : document.getElementById(left);
  left = null;
  if (section && document.activeElement === document.body) focusSection(section);
});
