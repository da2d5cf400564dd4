/** What a filter needs to know of a processor: its audit number and its numbers of system calls. */
interface Processor {
  readonly architecture: number;
  readonly calls: Readonly<Partial<Record<CallName, number>>>;
}

/** Calls of arm64 are those that Linux has on every newer processor; x64 also has the older forms. */
type CallName =
  | "socket"
  | "socketpair"
  | "add_key"
  | "request_key"
  | "keyctl"
  | "io_uring_setup"
  | "chmod"
  | "fchmod"
  | "fchmodat"
  | "fchmodat2"
  | "open"
  | "creat"
  | "openat"
  | "openat2"
  | "mknod"
  | "mknodat";

const shared = { io_uring_setup: 425, openat2: 437, fchmodat2: 452 };

const processors: Readonly<Record<string, Processor>> = {
  x64: {
    architecture: 0xc000003e,
    calls: {
      ...shared,
      ...{ socket: 41, socketpair: 53, add_key: 248, request_key: 249, keyctl: 250 },
      ...{ chmod: 90, fchmod: 91, fchmodat: 268, open: 2, creat: 85, openat: 257, mknod: 133, mknodat: 259 },
    },
  },
  arm64: {
    architecture: 0xc00000b7,
    calls: {
      ...shared,
      ...{ socket: 198, socketpair: 199, add_key: 217, request_key: 218, keyctl: 219 },
      ...{ fchmod: 52, fchmodat: 53, openat: 56, mknodat: 33 },
    },
  },
};

/** Calls from here on belong to another calling convention (x32). */
const foreignFrom = 0x40000000;

/** Of the kernel's filter machine. */
const code = { load: 0x20, and: 0x54, jumpIfEqual: 0x15, jumpIfAtLeast: 0x35, jumpIfAnyBit: 0x45, answer: 0x06 };

const allow = 0x7fff0000;
const refuse = 0x00050001;
/** Programs take these for a kernel that does not have it, and go on without: `ENOSYS`, `EAFNOSUPPORT`. */
const lacking = { call: 0x00050026, family: 0x00050061 };

/** Of `socket(2)`: everything else (hypervisors' AF_VSOCK, AF_ALG, Bluetooth, …) is no business of a command. */
const families = { internet: 2, internet6: 10, netlink: 16 };
const unixFamily = 1;
/** `SOCK_STREAM` and `SOCK_SEQPACKET`: once connected, they cannot be connected elsewhere, as datagrams can. */
const pairedTypes = [1, 5];
const typeMask = 0xf;

/** `S_ISUID | S_ISGID`. */
const setIds = 0o6000;
/** `O_CREAT`, and the bit of `O_TMPFILE` that is not also O_DIRECTORY: without them the mode is not used. */
const creating = 0x400040;

/**
 * A filter of system calls for what namespaces and mounts do not separate:
 *
 * - the kernel's key rings, and odd families of sockets that reach the machine around the wall (`io_uring` too, because it can
 *   make any);
 * - Unix sockets: those of the host lie in folders that the command sees (and, with the network, in none at all). A filter does
 *   not see which one is meant, so none can be made; a connected pair can;
 * - set-user-id and set-group-id bits, which would outlast the command on files that it leaves.
 *
 * Undefined on a processor that we have no numbers of.
 */
export function createSeccompFilter(processor: string): Uint8Array | undefined {
  const known = processors[processor];
  if (known === undefined) return undefined;
  const blocks = rules.flatMap(([name, body]) => {
    const number = known.calls[name];
    return number === undefined ? [] : [{ code: code.jumpIfEqual, value: number, unmet: body.length }, ...body];
  });
  return assemble([
    { code: code.load, value: 4 },
    { code: code.jumpIfEqual, value: known.architecture, met: 1 },
    answer(refuse),
    { code: code.load, value: 0 },
    { code: code.jumpIfAtLeast, value: foreignFrom, unmet: 1 },
    answer(refuse),
    ...blocks,
    answer(allow),
  ]);
}

/** One instruction; `met` and `unmet` are how many are skipped. */
interface Step {
  readonly code: number;
  readonly value: number;
  readonly met?: number;
  readonly unmet?: number;
}

function answer(value: number): Step {
  return { code: code.answer, value };
}

/** The lower half of an argument of the call. */
function argument(index: number): Step {
  return { code: code.load, value: 16 + 8 * index };
}

/** Allows if what is loaded is one of these. */
function oneOf(values: readonly number[], otherwise: number): readonly Step[] {
  const tests = values.map((value, index) => ({ code: code.jumpIfEqual, value, met: values.length - index }));
  return [...tests, answer(otherwise), answer(allow)];
}

function withoutSetIds(modeIndex: number): readonly Step[] {
  return [argument(modeIndex), { code: code.jumpIfAnyBit, value: setIds, unmet: 1 }, answer(refuse), answer(allow)];
}

function createdWithoutSetIds(flagsIndex: number, modeIndex: number): readonly Step[] {
  const body = withoutSetIds(modeIndex);
  return [argument(flagsIndex), { code: code.jumpIfAnyBit, value: creating, unmet: body.length - 1 }, ...body];
}

/** What becomes of a call. Each ends with an answer: what was loaded before is gone. */
const rules: readonly (readonly [CallName, readonly Step[]])[] = [
  ...(["add_key", "request_key", "keyctl", "io_uring_setup"] as const).map((name) => [name, [answer(refuse)]] as const),
  ["socket", [argument(0), ...socketFamilies()]],
  [
    "socketpair",
    [
      argument(0),
      { code: code.jumpIfEqual, value: unixFamily, met: 1 },
      answer(refuse),
      argument(1),
      { code: code.and, value: typeMask },
      ...oneOf(pairedTypes, refuse),
    ],
  ],
  ["chmod", withoutSetIds(1)],
  ["fchmod", withoutSetIds(1)],
  ["fchmodat", withoutSetIds(2)],
  ["fchmodat2", withoutSetIds(2)],
  ["mknod", withoutSetIds(1)],
  ["mknodat", withoutSetIds(2)],
  ["creat", withoutSetIds(1)],
  ["open", createdWithoutSetIds(1, 2)],
  ["openat", createdWithoutSetIds(2, 3)],
  // Its flags and mode lie in memory, which a filter does not see.
  ["openat2", [answer(lacking.call)]],
];

function socketFamilies(): readonly Step[] {
  return [
    { code: code.jumpIfEqual, value: unixFamily, unmet: 1 },
    answer(lacking.family),
    ...oneOf(Object.values(families), refuse),
  ];
}

/** Little-endian, eight bytes an instruction. */
function assemble(program: readonly Step[]): Uint8Array {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, step] of program.entries()) {
    bytes.writeUInt16LE(step.code, index * 8);
    bytes.writeUInt8(step.met ?? 0, index * 8 + 2);
    bytes.writeUInt8(step.unmet ?? 0, index * 8 + 3);
    bytes.writeUInt32LE(step.value, index * 8 + 4);
  }
  return bytes;
}
