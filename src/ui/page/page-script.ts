/** The script of a page: keys and the filter. The page is whole without it. Its digest stands in the page's content security policy. */
export const pageScript = `"use strict";
(() => {
  const tree = document.getElementById("tree");
  const filter = document.getElementById("filter");
  const rows = [...tree.querySelectorAll("li")];
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView({ block: "start" });
    const focus = target.tagName === "DETAILS" ? target.querySelector("summary") : target;
    focus.focus({ preventScroll: true });
    for (const row of rows) {
      const isCurrent = row.firstElementChild.hash === location.hash;
      row.classList.toggle("current", isCurrent);
      if (isCurrent) row.scrollIntoView({ block: "nearest" });
    }
  };
  const go = (links, step) => {
    if (links.length === 0) return;
    const at = links.findIndex((link) => link.hash === location.hash);
    const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : (at + step + links.length) % links.length;
    if (links[next].hash === location.hash) reveal();
    else location.hash = links[next].hash;
  };
  const calls = () => rows.filter((row) => !row.hidden).map((row) => row.firstElementChild);
  const keys = {
    j: () => go(calls(), 1),
    k: () => go(calls(), -1),
    a: () => go([...document.querySelectorAll("#approvals a")], 1),
    e: () => {
      const all = [...document.querySelectorAll("main details")];
      const open = all.some((one) => !one.open);
      for (const one of all) one.open = open;
    },
    "/": () => filter.focus(),
  };
  addEventListener("hashchange", reveal);
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === filter) {
      if (event.key === "Escape") filter.blur();
      return;
    }
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (!act) return;
    event.preventDefault();
    act();
  });
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(words);
  });
  reveal();
})();
`;
