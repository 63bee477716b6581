// Steps through the rounds: colours each clique's sites and the links that its trees use.
(function () {
  const data = pageData.map;
  const section = document.getElementById("map");
  const stepper = section.querySelector(".stepper");
  if (stepper === null) return;

  const COLOURS = 8;        // Classes c0 to c7 of the style.
  const LANE_PX = 3.6;      // Distance between the lines of two cliques on one link.
  const SECONDS_A_ROUND = 1.2;
  const slider = stepper.querySelector("input");
  const play = stepper.querySelector("[data-play]");
  let current = 0;
  let timer = null;

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

  // For each link the cliques that use it, so that they lie side by side.
  function usersOfLinks(cliques) {
    const users = new Map();
    cliques.forEach((clique, colour) => {
      for (const link of data.cliques[clique].links) {
        if (!users.has(link)) users.set(link, []);
        users.get(link).push(colour);
      }
    });
    return users;
  }

  function drawLinks(cliques) {
    const users = usersOfLinks(cliques);
    data.views.forEach((lines, number) => {
      const group = section.querySelector(`[data-view="${number}"] .cliques`);
      group.replaceChildren();
      for (const [link, colours] of users) {
        colours.forEach((colour, lane) => {
          for (const line of lines[link] || []) {
            const by = (lane - (colours.length - 1) / 2) * LANE_PX;
            group.append(svg("path", { "class": `clique c${colour % COLOURS}`, d: shifted(line, by) }));
          }
        });
      }
    });
  }

  function drawSites(cliques) {
    const colourOf = new Map();
    cliques.forEach((clique, colour) => {
      for (const site of data.cliques[clique].sites) if (!colourOf.has(site)) colourOf.set(site, colour % COLOURS);
    });
    for (const dot of section.querySelectorAll("circle.site")) {
      const colour = colourOf.get(Number(dot.dataset.site));
      dot.setAttribute("class", colour === undefined ? "site resting" : `site c${colour}`);
    }
  }

  function drawChips(cliques) {
    const chips = cliques.map((clique, colour) => {
      const chip = document.createElement("span");
      chip.className = `chip c${colour % COLOURS}`;
      chip.textContent = data.cliques[clique].members.join(" ");
      return chip;
    });
    stepper.querySelector(".chips").replaceChildren(...chips);
  }

  function show(index) {
    const count = data.rounds.length;
    current = (index + count) % count;
    const round = data.rounds[current];
    slider.value = current;
    stepper.querySelector(".round").textContent = `Round ${round.number}`;
    stepper.querySelector(".times").textContent = round.times;
    drawLinks(round.cliques);
    drawSites(round.cliques);
    drawChips(round.cliques);
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
  show(0);
})();
