// Steps through the rounds: colours each clique's sites and the links that its trees use.
(function () {
  const data = pageData.map;
  const section = document.getElementById("map");
  const stepper = section.querySelector(".stepper");
  if (stepper === null) return;

  const COLOURS = 8;        // Classes c0 to c7 of the style.
  const LANE_PX = 3.6;      // Distance between the lines of two cliques on one link.
  const SECONDS_A_ROUND = 1.2;
  const THIN_PX = 1.5;      // A clique's line on a link that it hardly loads, and
  const LOADED_PX = 7.5;    // what is added where it takes all of it.
  const slider = stepper.querySelector("input");
  const play = stepper.querySelector("[data-play]");
  let current = 0;
  let timer = null;
  let chosen = null;        // The clique that is picked out, by index in the round.

  function svg(name, attributes) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  }

  // The line x0 y0 x1 y1 ... moved sideways, as the d of a path.
  function shifted(line, by) {
    let d = "";
    for (let i = 0; i < line.length; i += 2) {
      const before = Math.max(0, i - 2);
      const after = Math.min(line.length - 2, i + 2);
      const dx = line[after] - line[before];
      const dy = line[after + 1] - line[before + 1];
      const length = Math.hypot(dx, dy) || 1;
      d += (i === 0 ? "M" : "L") + (line[i] - by * dy / length).toFixed(1) + " " +
           (line[i + 1] + by * dx / length).toFixed(1);
    }
    return d;
  }

  // For each link the cliques that use it, so that they lie side by side: [colour, width] each.
  function usersOfLinks(round) {
    const users = new Map();
    const add = (link, colour, width) => {
      if (!users.has(link)) users.set(link, []);
      users.get(link).push([colour, width]);
    };
    if (round.uses) {
      for (const [colour, link, share] of round.uses) add(link, colour, THIN_PX + LOADED_PX * Math.min(1, share));
    } else {
      round.cliques.forEach((clique, colour) => data.cliques[clique].links.forEach((link) => add(link, colour, 3)));
    }
    return users;
  }

  // What draws on every view that shows the link; make(line) gives an element.
  function onViews(links, make) {
    data.views.forEach((lines, number) => {
      const group = section.querySelector(`[data-view="${number}"] .cliques`);
      for (const link of links) for (const line of lines[link] || []) group.append(...make(link, line));
    });
  }

  function drawLinks(round) {
    for (const group of section.querySelectorAll("[data-view] .cliques")) group.replaceChildren();
    const users = usersOfLinks(round);
    onViews([...users.keys()], (link, line) => {
      const lanes = users.get(link);
      const total = lanes.reduce((sum, [, width]) => sum + Math.max(width, LANE_PX - 1) + 1, -1);
      let left = -total / 2;
      return lanes.map(([colour, width]) => {
        const room = Math.max(width, LANE_PX - 1);
        const by = left + room / 2;
        left += room + 1;
        const faint = chosen !== null && chosen !== colour ? " faint" : "";
        return svg("path", { "class": `clique c${colour % COLOURS}${faint}`, "stroke-width": width.toFixed(1), d: shifted(line, by) });
      });
    });
  }

  function drawSites(cliques) {
    const colourOf = new Map();
    cliques.forEach((clique, colour) => {
      for (const site of data.cliques[clique].sites) if (!colourOf.has(site)) colourOf.set(site, colour);
    });
    for (const dot of section.querySelectorAll("circle.site")) {
      const colour = colourOf.get(Number(dot.dataset.site));
      const faint = chosen !== null && colour !== chosen ? " faint" : "";
      dot.setAttribute("class", (colour === undefined ? "site resting" : `site c${colour % COLOURS}`) + faint);
    }
  }

  function drawChips(cliques) {
    const chips = cliques.map((clique, colour) => {
      const chip = document.createElement("button");
      chip.type = "button";
      chip.className = `chip c${colour % COLOURS}`;
      chip.textContent = data.cliques[clique].members.join(" ");
      chip.setAttribute("aria-pressed", String(chosen === colour));
      chip.addEventListener("click", () => {
        chosen = chosen === colour ? null : colour;
        show(current, true);
        stepper.querySelectorAll(".chip")[colour].focus();
      });
      return chip;
    });
    stepper.querySelector(".chips").replaceChildren(...chips);
  }

  // The tree of a site over the cliques' lines.
  function drawTree(site) {
    for (const path of section.querySelectorAll(".tree")) path.remove();
    const trees = data.rounds[current].trees;
    if (site === null || !trees || !trees[site]) return;
    onViews(trees[site], (link, line) => [svg("path", { "class": "tree", d: shifted(line, 0) })]);
  }

  // Tooltips of links and sites, with what the round adds to them.
  function addNotes(round) {
    for (const [selector, key, notes] of [["path.target", "link", round.link_notes], ["circle.site", "site", round.site_notes]]) {
      if (!notes) continue;
      for (const element of section.querySelectorAll(selector)) {
        if (element.dataset.plain === undefined) element.dataset.plain = element.dataset.tip;
        const note = notes[element.dataset[key]];
        element.dataset.tip = element.dataset.plain + (note ? "\n" + note : "");
        if (key === "site") element.setAttribute("aria-label", element.dataset.tip.replaceAll("\n", ", "));
      }
    }
  }

  function show(index, keepChosen = false) {
    const count = data.rounds.length;
    if (!keepChosen) chosen = null;
    current = (index + count) % count;
    const round = data.rounds[current];
    slider.value = current;
    stepper.querySelector(".round").textContent = `Round ${round.number}`;
    stepper.querySelector(".times").textContent = round.times;
    drawLinks(round);
    drawSites(round.cliques);
    drawChips(round.cliques);
    addNotes(round);
  }

  function togglePlay() {
    if (timer === null) {
      timer = setInterval(() => show(current + 1), SECONDS_A_ROUND * 1000);
    } else {
      clearInterval(timer);
      timer = null;
    }
    play.textContent = timer === null ? "\u25b6" : "\u275a\u275a";
  }

  for (const button of stepper.querySelectorAll("[data-step]"))
    button.addEventListener("click", () => show(current + Number(button.dataset.step)));
  play.addEventListener("click", togglePlay);
  slider.addEventListener("input", () => show(Number(slider.value)));
  document.addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLInputElement || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "ArrowLeft") show(current - 1);
    else if (event.key === "ArrowRight") show(current + 1);
    else if (event.key === "p") togglePlay();
  });
  for (const dot of section.querySelectorAll("circle.site")) {
    const site = dot.dataset.site;
    if (data.rounds.some((round) => round.trees && round.trees[site])) {
      dot.setAttribute("tabindex", "0");
      dot.setAttribute("role", "img");
    }
    for (const event of ["pointerenter", "focus"]) dot.addEventListener(event, () => drawTree(site));
    for (const event of ["pointerleave", "blur"]) dot.addEventListener(event, () => drawTree(null));
  }
  show(0);
})();
