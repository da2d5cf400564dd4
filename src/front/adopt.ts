import { openQuestions } from "../effects/open-questions.ts";
import { adoptedFacts } from "../effects/policies/adopted.ts";
import type { Host } from "../host/host.ts";
import { RunSecrets } from "../journal/run-secrets.ts";
import { importedStore } from "../journal/stores/folder-store.ts";
import type { ProgramOfRun, RunStore } from "../journal/stores/store.ts";
import type { CompiledWith, Fact, GivenPrice } from "../protocol/fact.ts";
import { environmentSecrets, Redactor } from "../util/secrets/redactor.ts";
import { readCredentials } from "./credentials.ts";

/** A record from elsewhere, as it would be taken over. */
export interface Adoption {
  readonly id: string;
  /** Requests, answers of models, results of tools, and ends; no decision of a person. */
  readonly facts: readonly Fact[];
  /** The name of the program, as the record has it. */
  readonly program: string;
  readonly entry: string;
  /** How it was compiled there. Its options are not taken over. */
  readonly compiled: CompiledWith;
  /** Those that it was given there. They are not taken over: a low price would raise a limit of dollars. */
  readonly prices: readonly GivenPrice[];
  /** The calls that waited for an answer, as they were described there. Each is asked for anew. */
  readonly waiting: readonly string[];
}

/** Reads the part of a record from elsewhere that would be taken over. Undefined if nothing happened. Rejects if it cannot be read. */
export async function readAdoption(host: Host, id: string): Promise<Adoption | undefined> {
  const { facts: recorded } = await importedStore(host).read(id);
  const facts = adoptedFacts(recorded);
  const [start] = recorded;
  if (start?.type !== "run-start" || facts.length === 0) return undefined;
  const { program, entry, compiled = { target: "." }, prices = [] } = start;
  const waiting = openQuestions(recorded).map(({ request }) => String(request?.description ?? "a call"));
  return { id, facts, program, entry, compiled, prices, waiting };
}

/** Takes the facts over into a store, for good: the record from elsewhere is gone. Rejects if the store cannot be written. */
export async function adopt(
  host: Host,
  { id, facts }: Adoption,
  { program, store }: { readonly program: ProgramOfRun; readonly store: RunStore },
): Promise<void> {
  const { secrets: stored } = await readCredentials(host);
  const secrets = new RunSecrets(() => host.createKey());
  const redactor = new Redactor([...environmentSecrets(host.environment), ...stored], secrets);
  const { journal } = await store.create({ id, program, redactor, secrets });
  for (const fact of facts) journal.append(fact);
  const lost = await journal.close();
  if (lost) throw lost;
  await importedStore(host).discard(id);
}
