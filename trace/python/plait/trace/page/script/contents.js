// The list of sections, in which the visible section is marked.

import { el } from "./dom.js";

export function contents() {
  const list = document.getElementById("contents");
  const sections = [...document.querySelectorAll("main section[id]")];
  const links = new Map();
  for (const each of sections) {
    const title = each.querySelector("h2").textContent;
    links.set(each.id, el("a", { href: `#${each.id}` }, title));
  }
  list.append(
    el(
      "ul",
      {},
      [...links.values()].map((link) => el("li", {}, link)),
    ),
  );
  const inSight = new Set();
  const watch = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) inSight.add(target.id);
        else inSight.delete(target.id);
      }
      const now = sections.find((each) => inSight.has(each.id))?.id;
      for (const [id, link] of links) {
        if (id === now) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    },
    { rootMargin: "-10% 0px -60% 0px" },
  );
  sections.forEach((each) => watch.observe(each));
}
