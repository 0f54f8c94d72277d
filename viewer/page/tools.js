// Small helpers, and the colours of the style sheet.

// element makes <tag class=...> holding children, which are nodes or plain text; nothing is parsed as HTML.
function element(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children);
  return node;
}

const byID = id => document.getElementById(id);
const clamp = (v, low, high) => Math.min(high, Math.max(low, v));

// share formats a weight: two decimals, more for small ones.
const share = v => v >= 0.01 || v === 0 ? v.toFixed(2) : v.toFixed(4);

// short formats a number for a narrow cell: about two digits, without a leading zero.
function short(v) {
  if (v >= 9.95) return v.toFixed(0);
  if (v >= 0.995) return v.toFixed(1).replace(".0", "");
  if (v === 0) return "0";
  return v < 0.005 ? v.toExponential(0) : v.toFixed(2).replace(/^0/, "");
}

// clipped shortens a token for running text.
const clipped = text => text.length <= 60 ? text : `${text.slice(0, 60)}…`;

const quoted = text => `‘${clipped(text)}’`;

// steps formats a number of steps.
const stepCount = n => n === 1 ? "1 step" : `${n} steps`;

// radioKeys lets the arrow keys move between the buttons of a radio group.
function radioKeys(box) {
  box.addEventListener("keydown", event => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key], all = [...box.querySelectorAll("[role=radio]")];
    const at = all.indexOf(document.activeElement);
    if (!by || at < 0) return;
    event.preventDefault();
    const next = all[(at + by + all.length) % all.length];
    next.focus();
    next.click();
  });
}

// channels reads rgb(...).
const channels = css => css.match(/\d+/g).map(Number);

// luminance is that of the Web Content Accessibility Guidelines.
function luminance(rgb) {
  const [r, g, b] = rgb.map(v => v <= 10 ? v / 3294 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// Colours holds what is read from the style sheet, so that colours are written down once. A ramp has 256 colours, from "nothing" to a full
// colour; weights use its square root, so that small weights can be distinguished.
class Colours {
  constructor() {
    this.probe = document.body.appendChild(element("i", "unseen"));
    this.pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
    for (const name of ["page", "ink", "soft", "rule", "band", "none", "mark", "wrong"]) this[name] = this.css(`var(--${name})`);
    this.weight = this.ramp("--full");
    this.rest = this.ramp("--rest");
    this.attention = this.ramp("--attend");
    const style = getComputedStyle(document.documentElement);
    this.mono = style.getPropertyValue("--tokens");
    this.sans = style.getPropertyValue("--labels");
    this.serif = style.getPropertyValue("--prose");
    this.texts = new Map();
    this.probe.remove();
  }

  // textOn returns black or white, whichever can be read on a fill drawn with an opacity.
  textOn(fill, alpha) {
    const key = `${fill} ${alpha}`;
    if (!this.texts.has(key)) {
      const page = channels(this.page), under = channels(fill).map((v, c) => alpha * v + (1 - alpha) * page[c]);
      this.texts.set(key, luminance(under) > 0.179 ? "rgb(0,0,0)" : "rgb(255,255,255)"); // there, both have the same contrast
    }
    return this.texts.get(key);
  }

  css(colour) { return `rgb(${this.rgb(colour)})`; }

  rgb(colour) {
    this.probe.style.color = colour;
    this.pen.fillStyle = getComputedStyle(this.probe).color;
    this.pen.fillRect(0, 0, 1, 1);
    return [...this.pen.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  }

  // ramp mixes its colours from eight that the browser mixes.
  ramp(name) {
    const stops = Array.from({ length: 9 }, (_, i) => this.rgb(`color-mix(in oklab, var(${name}) ${12.5 * i}%, var(--none))`));
    const rgb = Array.from({ length: 256 }, (_, level) => {
      const at = 8 * level / 255, i = Math.min(7, Math.floor(at));
      return stops[i].map((v, c) => Math.round(v + (at - i) * (stops[i + 1][c] - v)));
    });
    const pixels = alpha => Uint32Array.from(rgb, ([r, g, b]) => (alpha << 24 | b << 16 | g << 8 | r) >>> 0); // little-endian
    return {
      css: rgb.map(c => `rgb(${c})`),
      pixels: pixels(255),
      faint: pixels(255 * 0.3),
      of(v) { return this.css[Math.round(255 * Math.sqrt(clamp(v, 0, 1)))]; },
    };
  }
}
