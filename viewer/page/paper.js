// What figures are drawn on. A figure draws rectangles, curves and text, either on the canvas of a Pane or into an SVG for export.

class CanvasPaper {
  constructor(pen) { this.pen = pen; }

  rect(x, y, width, height, fill, alpha = 1) {
    this.pen.globalAlpha = alpha;
    this.pen.fillStyle = fill;
    this.pen.fillRect(x, y, width, height);
  }

  frame(x, y, width, height, stroke, line = 2) {
    this.pen.globalAlpha = 1;
    this.pen.strokeStyle = stroke;
    this.pen.lineWidth = line;
    this.pen.strokeRect(x, y, width, height);
  }

  // image draws a canvas of one pixel per cell.
  image(canvas, x, y, width, height) {
    this.pen.globalAlpha = 1;
    this.pen.imageSmoothingEnabled = false;
    this.pen.drawImage(canvas, x, y, width, height);
  }

  // curve is a cubic Bézier curve: points are x and y of its start, two controls and its end.
  curve(points, stroke, line, alpha) {
    const [x, y, ...rest] = points;
    this.pen.globalAlpha = alpha;
    this.pen.strokeStyle = stroke;
    this.pen.lineWidth = line;
    this.pen.beginPath();
    this.pen.moveTo(x, y);
    this.pen.bezierCurveTo(...rest);
    this.pen.stroke();
  }

  // text draws one line; anchor is start, middle or end, and y the middle of the line.
  text(x, y, text, font, fill, { anchor = "start", alpha = 1, turned = false } = {}) {
    const pen = this.pen;
    pen.globalAlpha = alpha;
    pen.font = font;
    pen.fillStyle = fill;
    pen.textAlign = anchor === "middle" ? "center" : anchor;
    pen.textBaseline = "middle";
    pen.direction = "ltr";
    if (!turned) return pen.fillText(text, x, y);
    pen.save();
    pen.translate(x, y);
    pen.rotate(-Math.PI / 2);
    pen.fillText(text, 0, 0);
    pen.restore();
  }
}

class SVGPaper {
  constructor(width, height, background) {
    this.open = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`;
    this.parts = [];
    this.rect(0, 0, width, height, background);
  }

  static escape(text) {
    return text.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);
  }

  add(tag, attributes, content) {
    const list = Object.entries(attributes).map(([k, v]) => ` ${k}="${SVGPaper.escape(typeof v === "number" ? `${+v.toFixed(2)}` : v)}"`).join("");
    this.parts.push(content === undefined ? `<${tag}${list}/>` : `<${tag}${list}>${SVGPaper.escape(content)}</${tag}>`);
  }

  rect(x, y, width, height, fill, alpha = 1) {
    this.add("rect", { x, y, width, height, fill, ...(alpha < 1 && { "fill-opacity": alpha }) });
  }

  frame(x, y, width, height, stroke, line = 2) {
    this.add("rect", { x, y, width, height, fill: "none", stroke, "stroke-width": line });
  }

  curve([x, y, ...rest], stroke, line, alpha) {
    const n = v => +v.toFixed(2);
    this.add("path", { d: `M${n(x)} ${n(y)}C${rest.map(n).join(" ")}`, fill: "none", stroke, "stroke-width": line, "stroke-opacity": alpha });
  }

  text(x, y, text, font, fill, { anchor = "start", alpha = 1, turned = false } = {}) {
    this.add("text", {
      x, y, style: `font:${font}`, fill, "text-anchor": anchor, "dominant-baseline": "central", "xml:space": "preserve",
      ...(alpha < 1 && { "fill-opacity": alpha }), ...(turned && { transform: `rotate(-90 ${x} ${y})` }),
    }, text);
  }

  toString() { return `${this.open}\n${this.parts.join("\n")}\n</svg>\n`; }
}

// A Pane is a canvas that shows the visible part of a figure of any size inside a scrolling box. The figure has width, height, and
// draw(paper, visible), where visible is {x, y, width, height}.
class Pane {
  constructor(box, figure) {
    this.box = box;
    this.figure = figure;
    this.canvas = element("canvas");
    this.extent = element("div", "extent", this.canvas);
    box.replaceChildren(this.extent);
    box.addEventListener("scroll", () => this.paint());
  }

  // fit gives the box the figure's size, and the canvas that of the box.
  fit() {
    Object.assign(this.extent.style, { width: `${this.figure.width}px`, height: `${this.figure.height}px` });
    this.paint();
  }

  paint() {
    const width = Math.min(this.box.clientWidth, this.figure.width), height = Math.min(this.box.clientHeight, this.figure.height);
    const scale = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      Object.assign(this.canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
      Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    }
    const visible = { x: this.box.scrollLeft, y: this.box.scrollTop, width, height }, pen = this.canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.globalAlpha = 1;
    pen.clearRect(0, 0, width, height);
    pen.translate(-visible.x, -visible.y);
    this.figure.draw(new CanvasPaper(pen), visible);
  }

  // point returns where in the figure an event is.
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left + this.box.scrollLeft, event.clientY - box.top + this.box.scrollTop];
  }

  // reveal scrolls the box, and nothing around it, until a rectangle is in view, not below margins left and above.
  reveal(x, y, width, height, left = 0, above = 0) {
    const box = this.box;
    if (x - box.scrollLeft < left) box.scrollLeft = x - left;
    else if (x + width - box.scrollLeft > box.clientWidth) box.scrollLeft = x + width - box.clientWidth;
    if (y - box.scrollTop < above) box.scrollTop = y - above;
    else if (y + height - box.scrollTop > box.clientHeight) box.scrollTop = y + height - box.clientHeight;
  }
}

// saveButtons are a figure's buttons for export.
function saveButtons(figure, name, colours) {
  const visible = () => ({ x: 0, y: 0, width: figure.width, height: figure.height, whole: true });
  const svg = () => {
    const paper = new SVGPaper(figure.width, figure.height, colours().page);
    figure.draw(paper, visible());
    return new Blob([paper.toString()], { type: "image/svg+xml" });
  };
  const png = () => new Promise(done => {
    const scale = Math.min(2, 8000 / Math.max(figure.width, figure.height));
    const canvas = Object.assign(element("canvas"), { width: Math.ceil(figure.width * scale), height: Math.ceil(figure.height * scale) });
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    const paper = new CanvasPaper(pen);
    paper.rect(0, 0, figure.width, figure.height, colours().page);
    figure.draw(paper, visible());
    canvas.toBlob(done, "image/png");
  });
  const button = (kind, make) => {
    const node = element("button", "", kind.toUpperCase());
    node.type = "button";
    node.setAttribute("aria-label", `save this figure as ${kind.toUpperCase()}`);
    node.addEventListener("click", async () => download(await make(), `${name}.${kind}`));
    return node;
  };
  return ["Save as ", button("svg", svg), " ", button("png", png)];
}

function download(blob, name) {
  const link = Object.assign(element("a"), { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
