// Attention as the page holds it: of each query the keys with the largest weights, and the sum of the others.

class Attention {
  constructor(shape, bytes) {
    [this.steps, this.heads, this.queries, this.keys] = shape;
    this.lists = this.heads + (this.heads > 1); // the mean of several heads follows them
    const rows = this.steps * this.lists * this.queries;
    this.start = new Uint32Array(rows + 1);
    for (let r = 0; r < rows; r++) this.start[r + 1] = this.start[r] + bytes[r];
    const total = this.start[rows], low = rows, high = low + total, weights = high + total, rest = weights + total;
    this.key = new Uint16Array(total);
    this.weight = new Float32Array(total);
    this.rest = new Float32Array(rows);
    for (let r = 0; r < rows; r++) {
      let key = -1;
      for (let i = this.start[r]; i < this.start[r + 1]; i++) {
        key += bytes[low + i] + 256 * bytes[high + i];
        this.key[i] = key;
        this.weight[i] = (bytes[weights + i] / 255) ** 2;
      }
      this.rest[r] = (bytes[rest + r] / 255) ** 2;
    }
  }

  // read decompresses what viewer/pack.go wrote.
  static async read({ shape, packed }) {
    const text = atob(packed.replaceAll("-", "+").replaceAll("_", "/")), data = new Uint8Array(text.length);
    for (let i = 0; i < data.length; i++) data[i] = text.charCodeAt(i);
    const plain = new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate-raw")));
    return new Attention(shape, new Uint8Array(await plain.arrayBuffer()));
  }

  // row returns {keys, weights, rest, max} of a query; head -1 is the mean of all heads.
  row(step, head, query) {
    const r = (step * this.lists + (head < 0 ? this.heads : head)) * this.queries + query, from = this.start[r], to = this.start[r + 1];
    const weights = this.weight.subarray(from, to);
    return { keys: this.key.subarray(from, to), weights, rest: this.rest[r], max: Math.max(0.001, ...weights) };
  }

  // at returns the weight of one key, and null if it is not kept and others of its query are not either.
  at(step, head, query, key) {
    const row = this.row(step, head, query), i = row.keys.indexOf(key);
    return i >= 0 ? row.weights[i] : row.rest > 0 ? null : 0;
  }
}
