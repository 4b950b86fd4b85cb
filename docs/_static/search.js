// The results of a search stand page by page: after the first result of a page come its sections.
document.addEventListener("DOMContentLoaded", () => {
  const results = document.getElementById("search-results");
  if (!results) return;
  const last = new Map(); // address of a page -> its last result
  const group = (item) => {
    if (item.nodeName !== "LI" || item.dataset.page) return;
    const [page] = item.querySelector("a").href.split("#");
    item.dataset.page = page;
    if (last.has(page)) {
      item.classList.add("same-page");
      last.get(page).after(item);
    }
    last.set(page, item);
  };
  new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach(group)))
    .observe(results, { childList: true, subtree: true });
});
