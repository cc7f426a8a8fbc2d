import { oneLine, ViewerError } from "./error";

const [OPEN, CLOSE, COMMA, MINUS, ZERO, NINE] = [0x5b, 0x5d, 0x2c, 0x2d, 0x30, 0x39];
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
/** More than any clock or memory counts; it also keeps sums finite. */
const LARGEST = 1e19;

/**
 * Reads nested lists of numbers straight from the bytes of JSON.
 *
 * JSON.parse would hold millions of little arrays, takes no text beyond 512 MB, and rounds times in nanoseconds, which
 * need 61 bits.
 */
export class NumberLists {
  /** Where in the file the reading is, for messages. */
  place = (): string => `byte ${this.at}`;
  private readonly bytes: Uint8Array;
  private at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  /** The next byte that is no white space, left where it is; -1 at the end. */
  next(): number {
    for (; this.at < this.bytes.length; this.at++) {
      const byte = this.bytes[this.at] ?? 0;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
    }
    return -1;
  }

  open(): void {
    if (this.next() !== OPEN) this.refuse("a list");
    this.at++;
  }

  /** Whether the open list has an item left. Takes the comma before the item, or the bracket that closes the list. */
  more(first: boolean): boolean {
    const byte = this.next();
    if (byte === CLOSE) {
      this.at++;
      return false;
    }
    if (first) return true;
    if (byte !== COMMA) this.refuse("a comma or ]");
    this.at++;
    return true;
  }

  end(): void {
    if (this.next() >= 0) this.refuse("the end of the file");
  }

  number(): number {
    const from = this.startNumber();
    const to = this.endDigits(from);
    // Up to 15 digits add up exactly.
    return to - from <= 15 && to === this.at ? this.sign(from) * this.digits(from, to) : this.parse(from);
  }

  /**
   * A time in nanoseconds as torch.profiler turns it into microseconds: Python's int(t / 1000). That quotient is
   * rounded to a double, as is this sum, whose two parts are exact or nearly so.
   */
  microseconds(): number {
    const from = this.startNumber();
    const to = this.endDigits(from);
    if (to !== this.at || to - from <= 3 || to - from > 19 || this.bytes[from] === MINUS) {
      const value = this.parse(from);
      return value < 0 ? value : Math.trunc(value / 1000);
    }
    return Math.floor(this.digits(from, to - 3) + this.digits(to - 3, to) / 1000);
  }

  private startNumber(): number {
    const byte = this.next();
    if (byte !== MINUS && !(byte >= ZERO && byte <= NINE)) this.refuse("a number");
    return this.at;
  }

  /** Moves past the number that begins at `from`. Returns where its first digits end. */
  private endDigits(from: number): number {
    const { bytes } = this;
    let at = bytes[from] === MINUS ? from + 1 : from;
    const first = at;
    while (isDigit(bytes[at])) at++;
    const isWrong = at === first || (bytes[first] === ZERO && at > first + 1);
    this.at = at;
    while (isPart(bytes[this.at])) this.at++; // a fraction or an exponent, or what only looks like one
    if (isWrong) this.refuseNumber(from);
    return at;
  }

  private sign(from: number): number {
    return this.bytes[from] === MINUS ? -1 : 1;
  }

  private digits(from: number, to: number): number {
    let value = 0;
    for (let i = this.bytes[from] === MINUS ? from + 1 : from; i < to; i++)
      value = value * 10 + (this.bytes[i] ?? ZERO) - ZERO;
    return value;
  }

  private parse(from: number): number {
    const text = this.text(from, this.at);
    if (!NUMBER.test(text)) this.refuseNumber(from);
    const value = Number(text);
    if (!(Math.abs(value) <= LARGEST)) this.refuseNumber(from);
    return value;
  }

  private refuseNumber(from: number): never {
    const text = oneLine(this.text(from, Math.min(this.at, from + 40)), 24);
    throw new ViewerError(`${this.place()} has ${text}, which is no number that a time or a size can be`);
  }

  private refuse(wanted: string): never {
    if (this.at >= this.bytes.length)
      throw new ViewerError(`it ends in the middle, at ${this.place()}; copy or export it again`);
    const found = oneLine(this.text(this.at, this.at + 24), 16);
    throw new ViewerError(`${this.place()} has ${found} where ${wanted} must be; export it again`);
  }

  private text(from: number, to: number): string {
    return new TextDecoder().decode(this.bytes.slice(from, to));
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

/** A byte that a number may have beyond its first digits: digits, "+", "-", ".", "E" and "e". */
function isPart(byte: number | undefined): boolean {
  return isDigit(byte) || byte === 0x2b || byte === MINUS || byte === 0x2e || byte === 0x45 || byte === 0x65;
}
