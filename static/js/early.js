// Runs before the first paint, so that a chosen scheme does not flash. Not a module on purpose.
(() => {
  try {
    const scheme = localStorage.getItem("onefold.scheme");
    if (scheme === "light" || scheme === "dark") document.documentElement.dataset.scheme = scheme;
  } catch {
    // Storage is forbidden here: the system's scheme it is.
  }
})();
