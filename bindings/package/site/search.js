// search.js -- the search of the site, for pages that are opened from files: the index is a script that is loaded when somebody
// searches, and calls penumbraIndex.  "/" goes to the field, arrows choose, Enter opens; index.html?q=WORDS searches at once.
(function () {
  "use strict";
  var MOST = 25;
  var rows = null, asked = false, chosen = -1;

  var field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Search  /";
  field.setAttribute("aria-label", "Search");
  field.setAttribute("autocomplete", "off");
  var found = document.createElement("ul");
  found.id = "found";
  document.getElementById("search").append(field, found);

  // Lower case, words of letters and digits between single blanks: "Frank-Wolfe" and "frank_wolfe" are the same two words.
  function plain(text) {
    return " " + text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim() + " ";
  }

  // A row is [address, title, kind or page, first words, other words].
  window.penumbraIndex = function (list) {
    rows = list.map(function (row) {
      return { row: row, title: plain(row[1]), text: plain([row[1], row[2], row[3], row[4] || ""].join(" ")) };
    });
    show();
  };

  function load() {
    if (asked) return;
    asked = true;
    var script = document.createElement("script");
    script.src = "search-index.js";
    document.head.append(script);
  }

  // How well a row answers: 0 where a word is missing; titles count more than text, whole words more than their beginnings.
  function score(entry, words) {
    var sum = 0;
    for (var word of words) {
      var points = entry.title.includes(" " + word + " ") ? 60 : entry.title.includes(" " + word) ? 35
        : entry.title.includes(word) ? 12 : entry.text.includes(" " + word + " ") ? 8 : entry.text.includes(" " + word) ? 5
        : entry.text.includes(word) ? 1 : 0;
      if (!points) return 0;
      sum += points;
    }
    if (entry.title === " " + words.join(" ") + " ") sum += 100;
    return sum / words.length - entry.title.length / 40;
  }

  function search(query) {
    var words = plain(query).trim().split(" ").filter(Boolean);
    if (!words.length) return [];
    return rows.map(function (entry) { return { row: entry.row, score: score(entry, words) }; })
      .filter(function (hit) { return hit.score > 0; })
      .sort(function (a, b) { return b.score - a.score; })
      .slice(0, MOST).map(function (hit) { return hit.row; });
  }

  // An element with text, in which the searched words are marked; it begins near the first of them.
  function element(name, text, words) {
    var made = document.createElement(name), at = 0;
    var pattern = words && words.length && new RegExp(words.join("|"), "giu");
    var first = pattern ? text.search(pattern) : -1;
    if (first > 60) text = "... " + text.slice(text.indexOf(" ", first - 40) + 1);
    for (var match of pattern ? text.matchAll(pattern) : []) {
      var mark = document.createElement("mark");
      mark.textContent = match[0];
      made.append(text.slice(at, match.index), mark);
      at = match.index + match[0].length;
    }
    made.append(text.slice(at));
    return made;
  }

  function show() {
    if (!rows) return load();
    var words = plain(field.value).trim().split(" ").filter(Boolean), hits = search(field.value);
    chosen = -1;
    found.replaceChildren();
    hits.forEach(function (row) {
      var link = document.createElement("a"), item = document.createElement("li");
      link.href = row[0];
      link.append(element("b", row[1], words), element("small", row[2]), element("span", row[3], words));
      item.append(link);
      found.append(item);
    });
    if (words.length && !hits.length) {
      var none = element("li", "Nothing has all of these words.");
      none.className = "none";
      found.append(none);
    }
  }

  function choose(step) {
    var links = found.querySelectorAll("a");
    if (!links.length) return;
    if (links[chosen]) links[chosen].className = "";
    chosen = (chosen + step + links.length) % links.length;
    links[chosen].className = "chosen";
    links[chosen].scrollIntoView({ block: "nearest" });
  }

  function close() {
    found.replaceChildren();
    chosen = -1;
  }

  field.addEventListener("focus", load);
  field.addEventListener("input", show);
  field.addEventListener("keydown", function (event) {
    var links = found.querySelectorAll("a");
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      choose(event.key === "ArrowDown" ? 1 : chosen < 0 ? 0 : -1);
    } else if (event.key === "Enter" && links.length) {
      location.href = links[Math.max(chosen, 0)].href;
      close();
    } else if (event.key === "Escape") {
      close();
      field.blur();
    } else {
      return;
    }
    event.preventDefault();
  });
  document.addEventListener("keydown", function (event) {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target === field) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
  document.addEventListener("click", function (event) {
    if (!event.target.closest("#search") || event.target.closest("#found a")) close();
  });

  var query = new URLSearchParams(location.search).get("q");
  if (query) {
    field.value = query;
    show();
  }
})();
