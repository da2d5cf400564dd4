/** What a filter needs to know of a processor: its audit number and its numbers of system calls. */
interface Numbers {
  readonly architecture: number;
  readonly socket: number;
  readonly keys: readonly number[];
  readonly ioUringSetup: number;
  /** Calls from here on belong to another calling convention (x32). */
  readonly foreignFrom: number;
}

const numbers: Readonly<Record<string, Numbers>> = {
  x64: { architecture: 0xc000003e, socket: 41, keys: [248, 249, 250], ioUringSetup: 425, foreignFrom: 0x40000000 },
  arm64: { architecture: 0xc00000b7, socket: 198, keys: [217, 218, 219], ioUringSetup: 425, foreignFrom: 0x40000000 },
};

const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const answer = 0x06;
const allow = 0x7fff0000;
/** `EPERM`. */
const refuse = 0x00050001;

/** Of `socket(2)`: everything else (hypervisors' AF_VSOCK, AF_ALG, Bluetooth, …) is no business of a command. */
const families = { unix: 1, internet: 2, internet6: 10, netlink: 16 };

/**
 * A filter of system calls for what namespaces do not separate: the kernel's key rings, and odd families of sockets that
 * reach the machine around the wall (`io_uring` too, because it can make any). With the network also AF_UNIX: abstract
 * sockets of the host (a desktop's X server and message bus) belong to the network that is shared then. `socketpair`
 * stays. Undefined on a processor that we have no numbers of.
 */
export function createSeccompFilter(processor: string, network: boolean): Uint8Array | undefined {
  const known = numbers[processor];
  if (known === undefined) return undefined;
  const refused = [...known.keys, known.ioUringSetup];
  const { unix, ...always } = families;
  const allowed = network ? Object.values(always) : [unix, ...Object.values(always)];
  return assemble([
    { code: load, value: 4 },
    { code: jumpIfEqual, value: known.architecture, unmet: "refuse" },
    { code: load, value: 0 },
    { code: jumpIfAtLeast, value: known.foreignFrom, met: "refuse" },
    ...refused.map((value): Step => ({ code: jumpIfEqual, value, met: "refuse" })),
    { code: jumpIfEqual, value: known.socket, unmet: "allow" },
    { code: load, value: 16 },
    ...allowed.map((value): Step => ({ code: jumpIfEqual, value, met: "allow" })),
    { code: jumpIfAtLeast, value: 0, met: "refuse" },
  ]);
}

interface Step {
  readonly code: number;
  readonly value: number;
  readonly met?: "refuse" | "allow";
  readonly unmet?: "refuse" | "allow";
}

/** Little-endian, eight bytes an instruction; the two answers stand at the end. */
function assemble(program: readonly Step[]): Uint8Array {
  const bytes = Buffer.alloc((program.length + 2) * 8);
  const distance = (index: number, target: "refuse" | "allow" | undefined) =>
    target === undefined ? 0 : program.length - index - 1 + (target === "allow" ? 0 : 1);
  for (const [index, step] of program.entries()) {
    bytes.writeUInt16LE(step.code, index * 8);
    bytes.writeUInt8(distance(index, step.met), index * 8 + 2);
    bytes.writeUInt8(distance(index, step.unmet), index * 8 + 3);
    bytes.writeUInt32LE(step.value, index * 8 + 4);
  }
  for (const [index, value] of [allow, refuse].entries()) {
    bytes.writeUInt16LE(answer, (program.length + index) * 8);
    bytes.writeUInt32LE(value, (program.length + index) * 8 + 4);
  }
  return bytes;
}
