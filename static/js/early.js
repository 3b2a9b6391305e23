// Runs before the first paint, so that a chosen scheme does not flash and the key that a login hands
// over leaves the address at once. Not a module on purpose.
(() => {
  const contrast = matchMedia("(prefers-contrast: more)");
  const follow = () => document.documentElement.toggleAttribute("data-contrast", contrast.matches);
  contrast.addEventListener("change", follow);
  follow();
  const key = /^#key=([\w-]+)$/.exec(location.hash)?.[1];
  // With the entry of the history it outlives a reload even where storage is forbidden.
  if (key) history.replaceState({ key }, "", location.pathname + location.search);
  try {
    if (key) localStorage.removeItem("onefold.key"); // an old one is worse than none
    if (key) localStorage.setItem("onefold.key", key);
    const scheme = localStorage.getItem("onefold.scheme");
    if (scheme) document.documentElement.dataset.scheme = scheme;
  } catch {
    // Storage is forbidden here: the scheme of the settings it is.
  }
})();
