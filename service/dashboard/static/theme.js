// Runs before anything is drawn, so that a page never appears in the other theme first.
{
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const kept = localStorage.getItem("theme");
    if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  } catch {
    // Storage is off: the system's theme counts.
  }
}
