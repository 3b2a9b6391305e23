// The document as xterm.js is to see it, so that it has its styles under a content policy which allows
// none in the markup: the rules of its <style> elements go into sheets of the document, and a style
// attribute becomes properties.

const { document: page } = globalThis; // by its own name it would be what is made here

/** Returns what stands for a <style> element: its text is the rules of a sheet. */
function sheetElement(element) {
  const sheet = new CSSStyleSheet();
  const others = () => page.adoptedStyleSheets.filter((one) => one !== sheet);
  Object.defineProperty(element, "textContent", {
    set: (rules) => {
      sheet.replaceSync(rules);
      page.adoptedStyleSheets = [...others(), sheet];
    },
  });
  element.remove = () => {
    page.adoptedStyleSheets = others();
    HTMLElement.prototype.remove.call(element);
  };
  return element;
}

function setAttribute(name, value) {
  if (name === "style") this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}

function createElement(name, ...options) {
  if (name === "style") return sheetElement(page.createElement("template"));
  const element = page.createElement(name, ...options);
  element.setAttribute = setAttribute;
  return element;
}

export const styledDocument = new Proxy(page, {
  get(target, name) {
    if (name === "createElement") return createElement;
    const value = Reflect.get(target, name);
    return typeof value === "function" ? value.bind(target) : value;
  },
  set: (target, name, value) => Reflect.set(target, name, value),
});
