// Keeps the end of the conversation in sight while the reader is there, and leaves them alone else.

import { t } from "../i18n/translate.js";

const NEAR = 80; // pixels from the end that still count as being there

export class AutoScroll {
  /**
   * @param {HTMLElement} scroller
   * @param {HTMLElement} content
   * @param {HTMLElement} pill the button that leads back to the end
   */
  constructor(scroller, content, pill) {
    this.scroller = scroller;
    this.pill = pill;
    this.isOn = true;
    this.top = 0;
    this.height = 0;
    this.seen = 0;
    this.count = 0;
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    scroller.addEventListener(
      "wheel",
      (event) => {
        if (event.deltaY < 0) this.#leave();
      },
      { passive: true },
    );
    scroller.addEventListener("keydown", (event) => {
      if (["PageUp", "Home", "ArrowUp"].includes(event.key)) this.#leave();
    });
    pill.addEventListener("click", () => {
      this.toEnd();
      scroller.focus();
    });
    const sizes = new ResizeObserver(() => this.#settle());
    sizes.observe(content);
    sizes.observe(scroller);
  }

  get #distance() {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
  }

  #scrolled() {
    const { scrollTop, scrollHeight } = this.scroller;
    const isUp = scrollTop < this.top - 1 && scrollHeight >= this.height;
    if (isUp && this.#distance > 1) this.#leave();
    else if (scrollTop > this.top && this.#distance <= NEAR) this.isOn = true;
    this.#look();
    this.#draw(); // the wheel is told before the way it makes
  }

  #look() {
    this.top = this.scroller.scrollTop;
    this.height = this.scroller.scrollHeight;
  }

  #leave() {
    if (!this.isOn || this.scroller.scrollHeight <= this.scroller.clientHeight) return;
    this.isOn = false;
    this.seen = this.count;
    this.#draw();
  }

  #settle() {
    const isSaid = this.count > 0; // the welcome is read from its beginning
    const isLeft = this.isOn && isSaid && this.#distance > 0 && !hasSelectionIn(this.scroller);
    if (isLeft) this.toEnd();
    else this.#draw();
  }

  toEnd() {
    this.isOn = true;
    this.#scrollTo(this.scroller.scrollHeight);
    this.#draw();
  }

  /** Scrolls without being taken for the reader. @param {number} top */
  #scrollTo(top) {
    this.scroller.scrollTop = top;
    this.#look();
  }

  /** @param {number} count items there are now; where they are is looked at once the browser has laid them out */
  update(count) {
    if (count === this.count) return;
    this.count = count;
    requestAnimationFrame(() => this.#settle());
  }

  /** Does *work*, which adds above; what was in sight stays where it is. @param {() => Promise<any>} work */
  async keepingPlace(work) {
    const fromEnd = this.scroller.scrollHeight - this.scroller.scrollTop;
    this.#leave();
    await work();
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    this.#scrollTo(this.scroller.scrollHeight - fromEnd);
    this.seen = this.count;
    this.#draw();
  }

  #draw() {
    const isFar = !this.isOn && this.#distance > NEAR;
    this.pill.hidden = !isFar;
    const fresh = this.count - this.seen;
    const words = fresh > 0 ? t("↓ {n} new", { n: fresh }) : t("↓ To the end");
    if (isFar && this.pill.textContent !== words) this.pill.textContent = words;
  }
}

function hasSelectionIn(element) {
  const selection = getSelection();
  return Boolean(selection && !selection.isCollapsed && element.contains(selection.anchorNode));
}
