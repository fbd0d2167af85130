// Finds the texts that are cut in an element, and what a person has to scroll sideways for.
(shown) => {
  const misfits = [];
  const look = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) look(element.shadowRoot);
      const box = element.getBoundingClientRect();
      if (!box.width || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const words = () => `${element.localName} ${element.innerText || element.ariaLabel || element.className}`.trim();
      const style = getComputedStyle(element);
      const inside = element.clientWidth;
      if (element.scrollWidth > inside + 1 && inside) {
        if (style.textOverflow === "ellipsis") misfits.push(`cut: ${words()}`);
        else if (/auto|scroll/.test(style.overflowX)) misfits.push(`scrolls sideways: ${words()}`);
      }
      if (element.matches("button, a, input") && (box.left < 0 || box.right > innerWidth + 1)) {
        misfits.push(`outside: ${words()}`);
      }
    }
  };
  look(shown.shadowRoot ?? shown);
  return misfits;
}
