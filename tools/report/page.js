"use strict";
// What the sections' scripts read, by section.
const pageData = JSON.parse(document.getElementById("page-data").textContent);

// One tooltip for every element with data-tip. Its text is set as text, never as markup.
(function () {
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);
  document.addEventListener("pointermove", (event) => {
    const owner = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
    tip.hidden = owner === null;
    if (owner === null) return;
    tip.textContent = owner.dataset.tip;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 16;
    const fits = below + tip.offsetHeight + 8 < innerHeight;
    tip.style.left = Math.max(8, left) + "px";
    tip.style.top = (fits ? below : event.clientY - tip.offsetHeight - 10) + "px";
  });
  document.addEventListener("pointerleave", () => { tip.hidden = true; });
})();
