// What a person with a keyboard alone, or with a finger, finds wrong with a part of the page.
(() => {
  const CONTROLS = [
    "button, a[href], input:not([type=hidden]), select, textarea, summary, audio[controls]",
    "video[controls], [contenteditable=true], [role=button], [role=option], [role=tab]",
    "[role=menuitem], [role=treeitem], [role=switch]",
  ].join(", ");
  /** What the arrows move in; Tab leads to it as a whole. */
  const COMPOSITE = "[role=listbox], [role=menu], [role=tree], [role=tablist], [role=grid]";
  const TOUCHED = [
    "button, summary, select, input:not([type=hidden]), [role=treeitem], [role=option]",
    "[role=menuitem], [role=tab], a.button, .acts a, .export-list a",
  ].join(", ");
  const FINGER = 44 - 0.5; // px, and what is lost in rounding

  const deepest = () => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return at;
  };
  const parentOf = (node) => node.parentElement ?? node.getRootNode().host ?? null;
  const isWithin = (node, root) => {
    for (let at = node; at; at = parentOf(at)) if (at === root) return true;
    return false;
  };
  const all = (root, wanted) => {
    const hosts = [...root.querySelectorAll("*")].filter((each) => each.shadowRoot);
    return [...root.querySelectorAll(wanted), ...hosts.flatMap((host) => all(host.shadowRoot, wanted))];
  };
  const isShown = (node) =>
    node.checkVisibility({ visibilityProperty: true }) && node.getClientRects().length > 0;
  /** How *node* and what is around it looks; of a list with a current row that row. */
  const look = (node) => {
    const said = [];
    const row = node.getRootNode().getElementById?.(node.getAttribute("aria-activedescendant"));
    for (let at = row ?? node, level = 0; at && level < 4; at = parentOf(at), level += 1) {
      for (const part of [null, "::after"]) {
        const style = getComputedStyle(at, part);
        if (part && style.content === "none") continue;
        said.push(style.outlineStyle === "none" ? "" : style.outline, style.boxShadow);
        said.push(style.borderColor, style.backgroundColor, style.opacity);
      }
    }
    return said.join("|");
  };
  const nameOf = (node) => {
    const words = node.getAttribute("aria-label") || node.title || node.innerText || node.id || "";
    return `${node.localName}.${node.className} "${words.trim().replace(/\s+/g, " ").slice(0, 40)}"`;
  };

  const walk = {
    freed: new WeakSet(),
    begin(root) {
      Object.assign(walk, { root, looks: new Map(), visited: new Set(), faults: [] });
      walk.remember();
    },
    /** How each control looks without the focus. */
    remember() {
      const at = deepest();
      for (const each of all(walk.root, `${CONTROLS}, [tabindex]`))
        if (each !== at && !walk.looks.has(each) && !each.contains(at)) walk.looks.set(each, look(each));
    },
    /** Tells where the focus is now: "outside", "again", or "" for a stop that is new. */
    stop() {
      const at = deepest();
      if (!at || at === document.body || !isWithin(at, walk.root)) return "outside";
      if (walk.visited.has(at)) return "again";
      walk.visited.add(at);
      if (at !== walk.root && at.localName !== "iframe") walk.judge(at);
      walk.remember();
      return "";
    },
    judge(at) {
      const { left, right, top, bottom, width, height } = at.getBoundingClientRect();
      const isOutOfSight = right <= 0 || bottom <= 0 || left >= innerWidth || top >= innerHeight;
      if (!isShown(at) || !width || !height) walk.faults.push(`the focus is on what is hidden: ${nameOf(at)}`);
      else if (isOutOfSight) walk.faults.push(`the focus is out of sight: ${nameOf(at)}`);
      if (walk.looks.get(at) === look(at)) walk.faults.push(`the focus cannot be seen: ${nameOf(at)}`);
    },
    /** What can be used with a mouse, and was not come by. */
    missed() {
      const isReached = (each) =>
        walk.visited.has(each) || Boolean(each.parentElement?.closest(COMPOSITE)?.contains(each));
      const isUsable = (each) => isShown(each) && !each.disabled && !each.closest("[inert], [aria-hidden=true]");
      const missed = all(walk.root, CONTROLS).filter((each) => isUsable(each) && !isReached(each));
      return missed.map((each) => `not reached by keyboard: ${nameOf(each)}`);
    },
    isInText: () => Boolean(deepest()?.matches(".cm-content")),
    /** The key before Tab: in the text of a file that indents, until this one. */
    leaving() {
      if (!walk.isInText() || walk.freed.has(deepest())) return "Shift";
      walk.freed.add(deepest());
      return "Control+m";
    },
    focused: () => (deepest() && deepest() !== document.body ? nameOf(deepest()) : "nothing"),
    /** What a finger does not hit in *root*; a box is hit by its words as well. */
    small(root) {
      const sizeOf = (each) => {
        const isBox = /^(checkbox|radio)$/.test(each.type);
        return ((isBox && each.closest("label, li")) || each).getBoundingClientRect();
      };
      const isSmall = (each) => {
        const isInText = each.matches(".link") && each.closest("p, li, td");
        return !isInText && (sizeOf(each).width < FINGER || sizeOf(each).height < FINGER);
      };
      const shown = [...root.querySelectorAll(TOUCHED)].filter((each) => !each.matches(".offscreen") && isShown(each));
      return shown.filter(isSmall).map((each) => {
        const { width, height } = sizeOf(each);
        return `too small for a finger: ${nameOf(each)} ${Math.round(width)}×${Math.round(height)}`;
      });
    },
    /** Whether the page or *root* has to be scrolled sideways. */
    wide(root) {
      const over = root.scrollWidth - root.clientWidth;
      return [
        document.documentElement.scrollWidth > innerWidth && "the page scrolls sideways",
        over > 0 && getComputedStyle(root).overflowX !== "hidden" && `scrolls sideways by ${over}`,
      ].filter(Boolean);
    },
  };
  window.walk = walk;
})();
