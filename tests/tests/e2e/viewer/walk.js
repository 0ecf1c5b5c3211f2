// Opens everything on the `nth` page of a run: its tabs, and each row of each list (at most `most`) with each way to show
// its value. Returns what it found, the numbers of the texts that were shown, and the number of pages.
async (foreign, most, nth) => {
  const found = [], seen = new Set(), rows = {};
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const frame = () => new Promise(requestAnimationFrame);
  // Waits until this is true twice in a row; gives up after a minute.
  const until = async (holds) => {
    const begun = performance.now();
    for (let calm = 0; calm < 2; ) {
      await pause(2);
      calm = holds() ? calm + 1 : 0;
      if (performance.now() - begun > 60_000) throw Error(`waited a minute for ${holds}: ${location.hash}`);
    }
  };
  const settled = () => until(() => !document.querySelector("main .waiting, main .bone"));
  // The elements added to the page since the last call, including those already removed.
  const records = [];
  const changes = new MutationObserver((more) => records.push(...more));
  changes.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const look = (where) => {
    const elements = [], texts = [];
    for (const { type, target, addedNodes } of [...records.splice(0), ...changes.takeRecords()]) {
      if (type === "attributes") elements.push(target);
      if (type === "characterData") texts.push(target.data);
      for (const node of addedNodes) {
        texts.push(node.textContent);
        if (node.nodeType === 1) elements.push(node, ...all("*", node));
      }
    }
    for (const problem of foreign(elements.filter((e) => e.isConnected))) found.push(`${where}: ${problem}`);
    for (const text of texts) for (const [, n] of text.matchAll(/\u00ab(\d+)\u00bb/g)) seen.add(+n);
  };
  // Buttons that change how a value is shown, or fold rows.
  const looks = async (where, inside) => {
    all("details:not([open])", inside).forEach((e) => { e.open = true });
    const count = all("button[aria-pressed]", inside).length;
    for (let n = 0; n < count; n++) {
      all("button[aria-pressed]", inside)[n]?.click();
      await settled();
      look(`${where}, ${n}`);
    }
  };
  // Scrolls through a list, so that all its rows are drawn, and opens some of them, evenly spread.
  const list = async (where, find, open) => {
    const opened = new Set();
    const step = Math.max(1, Math.floor((find()?.getAttribute("aria-rowcount") - 1) / most) || 1);
    let next = 0;
    for (let top = -1; find() && find().scrollTop > top;) {
      top = find().scrollTop;
      for (const index of all(".row:not(.head)", find()).map((e) => e.getAttribute("aria-rowindex"))) {
        if (opened.size >= most || opened.has(index) || index < next) continue;
        opened.add(index);
        next = +index + step;
        await open(index);
      }
      if (!find()) break;
      find().scrollTop = top + Math.max(40, find().clientHeight - 60);
      for (let n = 0; n < 2; n++) await frame();
      await settled();
      look(where);
    }
    return opened.size;
  };
  // The page that a link leads to, with the rows of its lists: a list draws them a frame after it learns its own height.
  const arrived = (link) => {
    const filled = (list) => list.getAttribute("aria-rowcount") === "1" || list.querySelector(".row:not(.head)");
    return until(() => document.querySelector(link)?.hasAttribute("aria-current") && all("main .rows").every(filled));
  };
  const view = async (where) => {
    await settled();
    look(where);
    await looks(where, document.querySelector("main"));
    const find = () => document.querySelector("main [data-list]") ?? document.querySelector("main .rows");
    rows[where] = await list(where, find, async (index) => {
      find()?.querySelector(`.row[aria-rowindex="${index}"]`)?.click();
      await settled();
      look(`${where} ${index}`);
      const detail = document.querySelector("main .detail");
      if (!detail) return;
      await looks(`${where} ${index}`, detail);
      const inner = () => document.querySelector("main .detail .rows");
      const row = async (n) => {
        inner()?.querySelector(`.row[aria-rowindex="${n}"]`)?.click();
        await settled();
        look(`${where} ${index}, row ${n}`);
      };
      if (inner()) await list(`${where} ${index}`, inner, row);
      const from = document.querySelector("main .detail .asked-from input");
      if (from) {
        from.value = "1";
        from.dispatchEvent(new Event("change", { bubbles: true }));
        await settled();
        look(`${where} ${index}, from frame 1`);
      }
    });
  };
  // The sheets over the pages: how to continue, about the run, the text for a model.
  const sheets = async () => {
    for (let n = 0; n < all(".band .acts button, .band button.in-text").length; n++) {
      all(".band .acts button, .band button.in-text")[n].click();
      await frame();
      const sheet = document.querySelector("dialog.sheet");
      if (!sheet) continue;
      await until(() => !document.querySelector("dialog.sheet .waiting"));
      look(`sheet ${n}`);
      sheet.close();
      await until(() => !document.querySelector("dialog.sheet"));
    }
  };
  const pages = all("nav.pages a").map((a) => a.getAttribute("href"));
  for (const page of pages.slice(nth, nth + 1)) {
    location.hash = page;
    const name = page.split("/").pop();
    await arrived(`nav.pages a[href=${CSS.escape(page)}]`);
    await view(name);
    if (nth === 0) await sheets();
    // Lists beside each other, such as gates and their audit log.
    for (const tab of all("main .tabs a[href]").map((a) => a.getAttribute("href")).slice(1)) {
      location.hash = tab;
      await arrived(`main .tabs a[href=${CSS.escape(tab)}]`);
      await view(`${name} ${tab.split(/[/?]/).pop()}`);
    }
  }
  look("at the end");
  changes.disconnect();
  return { found: found.slice(0, 5), seen: [...seen], rows, pages: pages.length };
}
