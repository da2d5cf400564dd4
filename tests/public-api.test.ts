import { readFileSync } from "node:fs";
import { init, parse } from "es-module-lexer";
import { expect, test } from "vitest";
import * as approval from "../src/approval/index.ts";
import * as product from "../src/index.ts";
import * as postgres from "../src/postgres/index.ts";
import * as scopes from "../src/scopes.ts";
import * as testing from "../src/testing/index.ts";
import * as toolsets from "../src/toolsets/index.ts";

/*
 * Public names. A change here is a change for users: it belongs in CHANGELOG.md. A name without a mark is a value
 * (and its type, if it is a class); `type` marks what exists for the compiler alone.
 */

test("llm-do", async () => {
  expect(await exportsOf("../src/index.ts", product)).toMatchInlineSnapshot(`
    "CannotResume
    CompileError
    ModelError
    RunError
    ScopeError
    ToolFailure
    UntrustedProgram
    answerQuestions
    blocked
    calls
    compare
    compile
    createWorker
    defineWorker
    fork
    fromLanguageModel
    judgeCalls
    listQuestions
    mapRuns
    needsApproval
    preApproved
    readConversation
    replay
    resume
    run
    soften
    stabilise
    start
    tool
    toolFailure
    toolset
    type AnswerRequest
    type ApprovalDecision
    type ApprovalMode
    type ApprovalPolicy
    type ApprovalRequest
    type ApprovalRule
    type Approver
    type ApproverOptions
    type Artifact
    type AttachmentHandle
    type CallJudge
    type CallOptions
    type CallPath
    type CallableName
    type Callables
    type CallsRequest
    type CandidateFigures
    type Ceiling
    type Code
    type ComparisonRequest
    type CompileRequest
    type Compiled
    type ConnectAccess
    type Connection
    type ConnectionChange
    type ConnectionNote
    type CreateWorkerOptions
    type CreatedWorkerFile
    type DecisionSource
    type DefinedWorker
    type DeniedCall
    type Diagnostic
    type DiagnosticNote
    type EventSink
    type FilePart
    type ForkPoint
    type ForkRequest
    type GenerateOptions
    type Host
    type InputOf
    type JsonObject
    type JsonValue
    type JudgedCall
    type Judgement
    type LanguageModel
    type LanguageModelAccess
    type LanguageModelSource
    type LimitName
    type Limits
    type MapOptions
    type MapRequest
    type MappedRow
    type Message
    type Model
    type ModelErrorCode
    type ModelRequest
    type ModelResponse
    type NeedOfTrust
    type OpenQuestion
    type Outline
    type OutlinedModel
    type OutlinedScope
    type OutlinedTool
    type OutlinedToolset
    type OutlinedWorker
    type OutputOf
    type OwnVerdict
    type Preparation
    type PrepareAccess
    type PreparedToolsetCall
    type Preview
    type Price
    type PriceOverrides
    type Program
    type ProposedRule
    type Provider
    type ProviderEnvironment
    type QuestionAnswer
    type QuestionsRequest
    type Reconciliation
    type RecordedCall
    type RecordedConversation
    type RecordedPreparation
    type RememberedApprovals
    type RememberedCall
    type ReplayReport
    type ReplayRequest
    type ReportedUsage
    type ResumeRequest
    type RuleForRun
    type RuleText
    type RunErrorCode
    type RunEvent
    type RunEventType
    type RunOutput
    type RunRequest
    type RunningRun
    type Schema
    type Scopes
    type ServerTool
    type ServerToolBound
    type ServerToolSupport
    type ServerToolType
    type Severity
    type SoftenReport
    type SoftenRequest
    type StabiliseDraft
    type StabiliseReport
    type StabiliseRequest
    type StepFigures
    type Target
    type Tool
    type ToolCaller
    type ToolError
    type ToolErrorType
    type ToolOptions
    type ToolResult
    type ToolsEstimate
    type Toolset
    type ToolsetCall
    type ToolsetOptions
    type ToolsetScope
    type TypedRunOutput
    type UndoPlan
    type UndoReport
    type UndoRequest
    type UndoneFile
    type Unsure
    type Usage
    type Verdict
    type WaitingRun
    type Worker
    type WorkerDefinition
    type WorkerRuntime
    type WorkerSpec
    undo
    unsure"
  `);
});

test("llm-do/postgres", async () => {
  expect(await exportsOf("../src/postgres/index.ts", postgres)).toMatchInlineSnapshot(`
    "openPostgresStore
    type ClosableStore
    type PostgresStoreOptions"
  `);
});

test("llm-do/approval", async () => {
  expect(await exportsOf("../src/approval/index.ts", approval)).toMatchInlineSnapshot(`
    "createToolGate
    type ApprovalDecision
    type ApprovalMode
    type ApprovalPolicy
    type ApprovalRequest
    type ApprovalRule
    type Approver
    type DecisionSource
    type DeniedCall
    type GateableTool
    type Preview
    type ProposedRule
    type RuleEffect
    type ToolGate
    type ToolGateOptions
    type Verdict"
  `);
});

test("llm-do/scopes", async () => {
  expect(await exportsOf("../src/scopes.ts", scopes)).toMatchInlineSnapshot(`
    "ScopeError
    openScopes
    type FileFacts
    type InspectedPath
    type ListOptions
    type ListedFiles
    type Protection
    type ReadFile
    type ResolvedPath
    type ScopeDeclaration
    type Scopes"
  `);
});

test("llm-do/testing", async () => {
  expect(await exportsOf("../src/testing/index.ts", testing)).toMatchInlineSnapshot(`
    "createTestRuntime
    defineScript
    eventRecorder
    memoryHost
    promptTests
    scriptedModel
    testProgram
    toolsetConformance
    type CaseReport
    type ConformanceCase
    type ConformanceOptions
    type CountedFailure
    type EventRecorder
    type MemoryClock
    type MemoryContent
    type MemoryFaults
    type MemoryHost
    type MemoryHostOptions
    type PromptTestOptions
    type RegisterTest
    type Script
    type ScriptedAnswer
    type ScriptedCall
    type ScriptedCommand
    type ScriptedError
    type ScriptedFacts
    type ScriptedFile
    type ScriptedMadeFile
    type ScriptedModel
    type ScriptedReply
    type ScriptedRequest
    type ScriptedResult
    type ScriptedServerCall
    type TestReport
    type TestRuntime
    type TestRuntimeOptions"
  `);
});

test("llm-do/toolsets", async () => {
  expect(await exportsOf("../src/toolsets/index.ts", toolsets)).toMatchInlineSnapshot(`
    "ToolFailure
    approve
    blocked
    filter
    isTool
    isToolset
    needsApproval
    preApproved
    prefix
    rename
    tool
    toolFailure
    toolset
    type AttachmentHandle
    type CallOptions
    type ConfigWarning
    type ConnectAccess
    type Connection
    type MapOptions
    type OwnVerdict
    type PossibleText
    type Preparation
    type PrepareAccess
    type PreparedToolsetCall
    type Reconciliation
    type RecordedPreparation
    type RuleText
    type Target
    type Tool
    type ToolCaller
    type ToolOptions
    type Toolset
    type ToolsetCall
    type ToolsetOptions
    type ToolsetRequirement
    type ToolsetScope
    type WorkerRuntime"
  `);
});

async function exportsOf(path: string, module: object): Promise<string> {
  await init;
  const text = (url: URL) => readFileSync(url, "utf8");
  const [, exports] = parse(text(new URL(path, import.meta.url)));
  const names = exports.flatMap((one) => (one.type === "reexport-all" ? [] : [{ name: one.name, typeOnly: one.typeOnly }]));
  // Interfaces that declaration files add to have to be exported by a star: TypeScript merges into these alone.
  const starred = [...text(new URL(path, import.meta.url)).matchAll(/^export type \* from "(.+)";$/gm)].map(
    ([, file = ""]) => file,
  );
  expect(exports).toHaveLength(names.length + starred.length);
  for (const file of starred)
    for (const [, name = ""] of text(new URL(`../src/${file}`, import.meta.url)).matchAll(/^export (?:type|interface) (\w+)/gm))
      names.push({ name, typeOnly: true });
  const values = names.filter(({ typeOnly }) => !typeOnly).map(({ name }) => name);
  expect(values.sort()).toEqual(Object.keys(module).sort());
  return names
    .map(({ name, typeOnly }) => (typeOnly ? `type ${name}` : name))
    .sort()
    .join("\n");
}
