/* SPDX-License-Identifier: BSD-3-Clause */
/* What a pointer can do, keys can: open the menus of narrow pages, and scroll what is too wide. */
"use strict";

function reachMenu(icon) {
  icon.tabIndex = 0;
  icon.setAttribute("role", "button");
  icon.setAttribute("aria-label", icon.control.getAttribute("aria-label"));
  icon.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      icon.click();
    }
  });
}

function reachWide() {
  for (const box of document.querySelectorAll("pre, .table-wrapper, math[display=block]")) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
    } else {
      box.removeAttribute("tabindex");
    }
  }
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".nav-overlay-icon, .toc-overlay-icon").forEach(reachMenu);
  reachWide();
  window.addEventListener("resize", reachWide);
});
