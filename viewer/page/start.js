// Shows the trace that the page holds: at once, and attention when it is unpacked.

show(JSON.parse(byID("data").textContent), []);
unpacked(app.data).then(list => {
  app.attentions = list;
  app.layout();
  document.documentElement.dataset.ready = "true";
});
