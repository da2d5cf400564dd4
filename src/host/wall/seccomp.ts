/** The kernel's audit numbers of the processors that a filter can be made for. */
const architectures: Readonly<Record<string, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** Calls from here on belong to another calling convention (x32). */
const foreignFrom = 0x40000000;

/** Instructions of the kernel's filter machine. */
const code = { load: 0x20, and: 0x54, jumpIfEqual: 0x15, jumpIfAtLeast: 0x35, jumpIfAnyBit: 0x45, answer: 0x06 };

const allow = 0x7fff0000;
const refuse = 0x00050001;
/** `ENOSYS` and `EAFNOSUPPORT`: programs go on without the call or family. */
const lacking = { call: 0x00050026, family: 0x00050061 };

/** Allowed families of `socket(2)`. All others (AF_VSOCK of hypervisors, AF_ALG, Bluetooth, …) are refused. */
const families = { internet: 2, internet6: 10, netlink: 16 };
const unixFamily = 1;
/** `SOCK_STREAM` and `SOCK_SEQPACKET`: once connected, they cannot be connected elsewhere, as datagrams can. */
const pairedTypes = [1, 5];
const typeMask = 0xf;

/**
 * `F_SETLEASE` and `F_SETDELEG` of `fcntl(2)`. A file that is only read can be leased: others then wait up to 45 seconds to open it for
 * writing.
 */
const leases = [1024, 1040];

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
 * - set-user-id and set-group-id bits, which would outlast the command on files that it leaves;
 * - leases of files, which make other programs wait.
 *
 * Undefined for other processors than x64 and arm64.
 */
export function createSeccompFilter(processor: string): Uint8Array | undefined {
  const architecture = architectures[processor];
  if (architecture === undefined) return undefined;
  const blocks = rules.flatMap(([, x64, arm64, body]) => {
    const number = processor === "x64" ? x64 : arm64;
    return number === undefined ? [] : [{ code: code.jumpIfEqual, value: number, unmet: body.length }, ...body];
  });
  return assemble([
    { code: code.load, value: 4 },
    { code: code.jumpIfEqual, value: architecture, met: 1 },
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

/** Gives the first answer if the loaded value is one of these. */
function oneOf(values: readonly number[], met: number, otherwise: number): readonly Step[] {
  const tests = values.map((value, index) => ({ code: code.jumpIfEqual, value, met: values.length - index }));
  return [...tests, answer(otherwise), answer(met)];
}

function withoutSetIds(modeIndex: number): readonly Step[] {
  return [argument(modeIndex), { code: code.jumpIfAnyBit, value: setIds, unmet: 1 }, answer(refuse), answer(allow)];
}

function createdWithoutSetIds(flagsIndex: number, modeIndex: number): readonly Step[] {
  const body = withoutSetIds(modeIndex);
  return [argument(flagsIndex), { code: code.jumpIfAnyBit, value: creating, unmet: body.length - 1 }, ...body];
}

const refused = [answer(refuse)];

const socketFamilies = [
  argument(0),
  { code: code.jumpIfEqual, value: unixFamily, unmet: 1 },
  answer(lacking.family),
  ...oneOf(Object.values(families), allow, refuse),
];

const unixPairs = [
  argument(0),
  { code: code.jumpIfEqual, value: unixFamily, met: 1 },
  answer(refuse),
  argument(1),
  { code: code.and, value: typeMask },
  ...oneOf(pairedTypes, allow, refuse),
];

/**
 * Calls with their numbers on x64 and on arm64 (undefined: it has only the newer form), and the instructions that judge them. Each
 * ends with an answer: the next one must not see what was loaded.
 */
const rules: readonly (readonly [name: string, x64: number, arm64: number | undefined, body: readonly Step[]])[] = [
  ["add_key", 248, 217, refused],
  ["request_key", 249, 218, refused],
  ["keyctl", 250, 219, refused],
  ["io_uring_setup", 425, 425, refused],
  ["socket", 41, 198, socketFamilies],
  ["socketpair", 53, 199, unixPairs],
  ["fcntl", 72, 25, [argument(1), ...oneOf(leases, refuse, allow)]],
  ["chmod", 90, undefined, withoutSetIds(1)],
  ["fchmod", 91, 52, withoutSetIds(1)],
  ["fchmodat", 268, 53, withoutSetIds(2)],
  ["fchmodat2", 452, 452, withoutSetIds(2)],
  ["mknod", 133, undefined, withoutSetIds(1)],
  ["mknodat", 259, 33, withoutSetIds(2)],
  ["creat", 85, undefined, withoutSetIds(1)],
  ["open", 2, undefined, createdWithoutSetIds(1, 2)],
  ["openat", 257, 56, createdWithoutSetIds(2, 3)],
  // The flags and mode lie in memory, which a filter does not see.
  ["openat2", 437, 437, [answer(lacking.call)]],
];

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
