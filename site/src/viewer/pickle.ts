import { ViewerError } from "./trace";

/** What a pickle of plain data is made of. Dictionaries have no prototype, so no key of theirs means anything. */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

const CODE = "This pickle wants to build objects, which means to run code. Only plain data are read; nothing was run.";
const CUT = "This pickle is cut off or damaged.";
const NOT_DATA = "This pickle has something in it that a memory snapshot does not have.";
const utf8 = new TextDecoder("utf-8", { fatal: true });
const latin1 = new TextDecoder("latin1");

/**
 * Reads a Python pickle (protocols 2 to 5) that holds plain data only: dict, list, tuple, str, int, float, bool, None. It
 * knows the opcodes that build those and no other, so there is nothing in it that could run code. Python's pickletools.py
 * describes them.
 *
 * Not the package pickleparser: it spreads a batch over the call stack, and PyTorch writes a whole trace as one batch.
 *
 * @throws ViewerError on opcodes that run code, on a pickle that is cut off, and on one that is none.
 */
export function unpickle(bytes: Uint8Array): Value {
  return new Unpickler(bytes).run();
}

class Unpickler {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  #stack: Value[] = [];
  readonly #marked: Value[][] = [];
  readonly #memo = new Map<number, Value>();

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  run(): Value {
    for (;;) {
      const opcode = String.fromCharCode(this.#uint(1));
      if (opcode === ".") return this.#pop();
      this.#step(opcode);
    }
  }

  #step(opcode: string): void {
    switch (opcode) {
      case "\x80": // PROTO
        return void this.#uint(1);
      case "\x95": // FRAME
        return void this.#take(8);
      case "(": // MARK
        this.#marked.push(this.#stack);
        this.#stack = [];
        return;
      case "0": // POP
        return void this.#pop();
      case "N":
        return this.#push(null);
      case "\x88":
        return this.#push(true);
      case "\x89":
        return this.#push(false);
      case "K": // BININT1
        return this.#push(this.#uint(1));
      case "M": // BININT2
        return this.#push(this.#uint(2));
      case "J": // BININT
        return this.#push(this.#view.getInt32(this.#take(4), true));
      case "\x8a": // LONG1
        return this.#push(this.#long(this.#uint(1)));
      case "\x8b": // LONG4
        return this.#push(this.#long(this.#uint(4)));
      case "G": // BINFLOAT
        return this.#push(this.#view.getFloat64(this.#take(8), false));
      case "\x8c": // SHORT_BINUNICODE
        return this.#push(this.#text(this.#uint(1)));
      case "X": // BINUNICODE
        return this.#push(this.#text(this.#uint(4)));
      case "\x8d": // BINUNICODE8
        return this.#push(this.#text(this.#uint(8)));
      case "U": // SHORT_BINSTRING
      case "C": // SHORT_BINBYTES
        return this.#push(this.#raw(this.#uint(1)));
      case "T": // BINSTRING
      case "B": // BINBYTES
        return this.#push(this.#raw(this.#uint(4)));
      case "]":
      case ")":
        return this.#push([]);
      case "}":
        return this.#push(dictionary());
      case "a": // APPEND
        return this.#extend([this.#pop()]);
      case "e": // APPENDS
        return this.#extend(this.#unmark());
      case "s": {
        // SETITEM
        const value = this.#pop();
        return this.#update([this.#pop(), value]);
      }
      case "u": // SETITEMS
        return this.#update(this.#unmark());
      case "l": // LIST
      case "t": // TUPLE
        return this.#push(this.#unmark());
      case "\x85": // TUPLE1, TUPLE2, TUPLE3
      case "\x86":
      case "\x87": {
        const items = Array.from({ length: opcode.charCodeAt(0) - 0x84 }, () => this.#pop());
        return this.#push(items.reverse());
      }
      case "q": // BINPUT
        return this.#remember(this.#uint(1));
      case "r": // LONG_BINPUT
        return this.#remember(this.#uint(4));
      case "\x94": // MEMOIZE
        return this.#remember(this.#memo.size);
      case "h": // BINGET
        return this.#recall(this.#uint(1));
      case "j": // LONG_BINGET
        return this.#recall(this.#uint(4));
      case "c": // GLOBAL, STACK_GLOBAL, REDUCE, BUILD, INST, OBJ, NEWOBJ, NEWOBJ_EX, PERSID, BINPERSID, EXT1, EXT2, EXT4
      case "\x93":
      case "R":
      case "b":
      case "i":
      case "o":
      case "\x81":
      case "\x92":
      case "P":
      case "Q":
      case "\x82":
      case "\x83":
      case "\x84":
        throw new ViewerError(CODE);
      default:
        throw new ViewerError(NOT_DATA);
    }
  }

  /** Moves on by a number of bytes and returns where they begin. */
  #take(length: number): number {
    const from = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new ViewerError(CUT);
    return from;
  }

  #slice(length: number): Uint8Array {
    const from = this.#take(length);
    return this.#bytes.subarray(from, from + length);
  }

  #uint(length: 1 | 2 | 4 | 8): number {
    return this.#slice(length).reduceRight((value, byte) => value * 256 + byte, 0);
  }

  /** Two's complement, the lowest byte first. Beyond 2**53 it is rounded: addresses only. */
  #long(length: number): number {
    const digits = this.#slice(length);
    const value = digits.reduceRight((sum, byte) => sum * 256 + byte, 0);
    return (digits.at(-1) ?? 0) < 128 ? value : value - 256 ** length;
  }

  #text(length: number): string {
    try {
      return utf8.decode(this.#slice(length));
    } catch (error) {
      throw error instanceof ViewerError ? error : new ViewerError(CUT);
    }
  }

  #raw(length: number): string {
    return latin1.decode(this.#slice(length));
  }

  #push(value: Value): void {
    this.#stack.push(value);
  }

  #top(): Value {
    const value = this.#stack.at(-1);
    if (value === undefined) throw new ViewerError(CUT);
    return value;
  }

  #pop(): Value {
    const value = this.#top();
    this.#stack.pop();
    return value;
  }

  /** What was pushed since the last mark. */
  #unmark(): Value[] {
    const before = this.#marked.pop();
    if (!before) throw new ViewerError(CUT);
    const items = this.#stack;
    this.#stack = before;
    return items;
  }

  #extend(items: readonly Value[]): void {
    const list = this.#top();
    if (!Array.isArray(list)) throw new ViewerError(CUT);
    for (const item of items) list.push(item);
  }

  #update(items: readonly Value[]): void {
    const target = this.#top();
    if (target === null || typeof target !== "object" || Array.isArray(target)) throw new ViewerError(CUT);
    for (let i = 0; i + 1 < items.length; i += 2) {
      const key = items[i];
      if (typeof key !== "string" && typeof key !== "number") throw new ViewerError(CUT);
      target[key] = items[i + 1] ?? null;
    }
  }

  #remember(index: number): void {
    this.#memo.set(index, this.#top());
  }

  #recall(index: number): void {
    const value = this.#memo.get(index);
    if (value === undefined) throw new ViewerError(CUT);
    this.#push(value);
  }
}

function dictionary(): { [key: string]: Value } {
  return Object.create(null) as { [key: string]: Value };
}
