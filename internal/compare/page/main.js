new Charts(byID("charts"), byID("controls"), byID("runs"), JSON.parse(byID("data").textContent));
document.documentElement.dataset.ready = "true";
