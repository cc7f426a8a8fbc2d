import { ViewerError } from "./error";

/** What a pickle of plain data can hold. Tuples and lists are both arrays. */
export type Plain = null | boolean | number | string | Uint8Array | Plain[] | Dict;

/**
 * A dict's entries under the keys that are asked for, as keys and values in turn. A snapshot has millions of dicts: as
 * Maps with all their entries they take several times the memory, and most of the time goes into collecting garbage.
 * As in a Map, no key has a meaning of its own.
 */
export class Dict {
  items: readonly Plain[] = NONE;

  /** The value that was set last for `key`; undefined if none was. */
  get(key: string): Plain | undefined {
    let i = this.items.length - 2;
    while (i >= 0 && this.items[i] !== key) i -= 2;
    return this.items[i + 1];
  }
}

const NONE: readonly Plain[] = [];

/** Opcodes that import names, call them, or ask the reader for objects: GLOBAL, REDUCE, BUILD, INST and their like. */
const RUNS_CODE = new Set([..."cRbioPQ"].map((c) => c.charCodeAt(0)).concat(0x81, 0x82, 0x83, 0x84, 0x92, 0x93));

const REMAKE = 'make it again with torch.cuda.memory._dump_snapshot("snapshot.pickle")';

/**
 * Reads a pickle of protocol 2 to 5 that holds plain data only; nothing in it is ever run. Of dicts, entries under
 * `keys` are kept.
 *
 * The stack is an array and not the call stack, so depth of nesting costs nothing; each length is compared with what
 * the file still has before anything is made for it; and what is read grows by a few bytes for each byte of the file.
 * Not the package pickleparser (0.2.1): it calls what the file names, reads integers of 1 to 7 bytes without their
 * sign, overflows the call stack on long lists, and meets damaged files with TypeErrors.
 */
export function unpickle(bytes: Uint8Array, keys: ReadonlySet<string>): Plain {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoder = new TextDecoder();
  const stack: Plain[] = [];
  const marks: number[] = [];
  const memo: Plain[] = [];
  let at = 0;

  /** Moves past `n` bytes and returns where they begin. */
  const take = (n: number): number => {
    if (n > bytes.length - at) throw new ViewerError(`it is cut off: byte ${at} needs ${n} more; ${REMAKE}`);
    at += n;
    return at - n;
  };
  const byte = () => view.getUint8(take(1));
  const uint32 = () => view.getUint32(take(4), true);
  const uint64 = () => uint32() + uint32() * 2 ** 32;
  const slice = (n: number) => {
    const from = take(n);
    return bytes.subarray(from, from + n);
  };
  const string = (n: number) => decoder.decode(slice(n));
  /** Two's complement, the lowest byte first, as long as it says. Beyond 2^53 it is rounded. */
  const long = (n: number) => {
    const digits = slice(n);
    let value = (digits[n - 1] ?? 0) > 127 ? -1 : 0;
    for (let i = n - 1; i >= 0; i--) value = value * 256 + (digits[i] ?? 0);
    return value;
  };
  const damaged = () => new ViewerError(`it is damaged before byte ${at}; ${REMAKE}`);
  const floor = () => marks[marks.length - 1] ?? 0;
  const pop = (): Plain => {
    const value = stack.length > floor() ? stack.pop() : undefined;
    if (value === undefined) throw damaged();
    return value;
  };
  const top = (): Plain => {
    const value = stack[stack.length - 1];
    if (value === undefined || stack.length <= floor()) throw damaged();
    return value;
  };
  const popMark = (): number => {
    const from = marks.pop();
    if (from === undefined) throw damaged();
    return from;
  };
  /** Takes all values from there on off the stack. */
  const takeFrom = (from: number): Plain[] => {
    if (from < floor()) throw damaged();
    return stack.splice(from);
  };
  // Nearly all time goes into the next two, so they read the stack where it is.
  const append = (from: number) => {
    const list = from > floor() ? stack[from - 1] : undefined;
    if (!Array.isArray(list) || from > stack.length) throw damaged();
    for (let i = from; i < stack.length; i++) list.push(stack[i] ?? null);
    stack.length = from;
  };
  const setItems = (from: number) => {
    const dict = from > floor() ? stack[from - 1] : undefined;
    if (!(dict instanceof Dict) || from > stack.length || (stack.length - from) % 2 > 0) throw damaged();
    let to = from;
    for (let i = from; i < stack.length; i += 2) {
      const key = stack[i];
      if (typeof key !== "string" || !keys.has(key)) continue;
      stack[to++] = key;
      stack[to++] = stack[i + 1] ?? null;
    }
    if (to > from) dict.items = [...dict.items, ...stack.slice(from, to)];
    // Python writes each key once; more would make searches long.
    if (dict.items.length > 2 * keys.size) throw damaged();
    stack.length = from;
  };
  const put = (index: number) => {
    if (index > bytes.length) throw damaged();
    memo[index] = top();
  };
  const get = (index: number) => {
    const value = memo[index];
    if (value === undefined) throw damaged();
    stack.push(value);
  };

  for (;;) {
    const opcode = byte();
    switch (opcode) {
      case 0x80: // PROTO
        if (byte() > 5) throw new ViewerError("its pickle protocol is newer than 5; save it with pickle protocol 4");
        break;
      case 0x95: // FRAME
        if (uint64() > bytes.length - at)
          throw new ViewerError(`it is cut off in the frame before byte ${at}; ${REMAKE}`);
        break;
      case 0x2e: // STOP
        return pop();
      case 0x28: // MARK
        marks.push(stack.length);
        break;
      case 0x30: // POP
        pop();
        break;
      case 0x31: // POP_MARK
        stack.length = popMark();
        break;
      case 0x32: // DUP
        stack.push(top());
        break;
      case 0x71: // BINPUT
        put(byte());
        break;
      case 0x72: // LONG_BINPUT
        put(uint32());
        break;
      case 0x94: // MEMOIZE
        put(memo.length);
        break;
      case 0x68: // BINGET
        get(byte());
        break;
      case 0x6a: // LONG_BINGET
        get(uint32());
        break;
      case 0x4e: // NONE
        stack.push(null);
        break;
      case 0x88: // NEWTRUE
      case 0x89: // NEWFALSE
        stack.push(opcode === 0x88);
        break;
      case 0x4a: // BININT
        stack.push(view.getInt32(take(4), true));
        break;
      case 0x4b: // BININT1
        stack.push(byte());
        break;
      case 0x4d: // BININT2
        stack.push(view.getUint16(take(2), true));
        break;
      case 0x8a: // LONG1
        stack.push(long(byte()));
        break;
      case 0x8b: // LONG4
        stack.push(long(uint32()));
        break;
      case 0x47: // BINFLOAT
        stack.push(view.getFloat64(take(8)));
        break;
      case 0x58: // BINUNICODE
        stack.push(string(uint32()));
        break;
      case 0x8c: // SHORT_BINUNICODE
        stack.push(string(byte()));
        break;
      case 0x8d: // BINUNICODE8
        stack.push(string(uint64()));
        break;
      case 0x42: // BINBYTES
        stack.push(slice(uint32()));
        break;
      case 0x43: // SHORT_BINBYTES
        stack.push(slice(byte()));
        break;
      case 0x8e: // BINBYTES8
      case 0x96: // BYTEARRAY8
        stack.push(slice(uint64()));
        break;
      case 0x29: // EMPTY_TUPLE
      case 0x5d: // EMPTY_LIST
        stack.push([]);
        break;
      case 0x85: // TUPLE1
      case 0x86: // TUPLE2
      case 0x87: // TUPLE3
        stack.push(takeFrom(stack.length - (opcode - 0x84)));
        break;
      case 0x74: // TUPLE
        stack.push(takeFrom(popMark()));
        break;
      case 0x61: // APPEND
        append(stack.length - 1);
        break;
      case 0x65: // APPENDS
        append(popMark());
        break;
      case 0x7d: // EMPTY_DICT
        stack.push(new Dict());
        break;
      case 0x73: // SETITEM
        setItems(stack.length - 2);
        break;
      case 0x75: // SETITEMS
        setItems(popMark());
        break;
      default:
        throw new ViewerError(
          RUNS_CODE.has(opcode)
            ? `it wants to run code (at byte ${at - 1}), which a memory snapshot never does; open only files you made`
            : `it has something other than plain data at byte ${at - 1}; ${REMAKE}`,
        );
    }
  }
}
