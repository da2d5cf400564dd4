import { commands, type ExtensionContext, ProcessExecution, Task, TaskScope, tasks, type Uri, window, workspace } from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

/** Starts the language server where the workspace is trusted, and offers to run, check and explain the open worker. */
export async function activate(context: ExtensionContext): Promise<void> {
  for (const name of ["run", "check", "explain"] as const)
    context.subscriptions.push(commands.registerCommand(`llm-do.${name}`, (uri?: Uri) => execute(name, uri)));
  context.subscriptions.push(commands.registerCommand("llm-do.restart", () => client?.restart()));
  if (workspace.isTrusted) await start();
  else context.subscriptions.push(workspace.onDidGrantWorkspaceTrust(start));
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function start(): Promise<void> {
  const [command = "npx", ...args] = commandWords();
  const folder = workspace.workspaceFolders?.[0]?.uri.fsPath;
  client = new LanguageClient(
    "llm-do",
    "llm-do",
    { command, args: [...args, "lsp"], ...(folder === undefined ? {} : { options: { cwd: folder } }) },
    { documentSelector: [{ language: "llm-do-worker" }, { language: "yaml", pattern: "**/llm-do.yaml" }] },
  );
  try {
    await client.start();
  } catch {
    void window.showErrorMessage(
      `llm-do: \`${[command, ...args].join(" ")} lsp\` does not start. Install llm-do in this workspace (npm install llm-do), or set llm-do.command.`,
    );
  }
}

/** Runs a command on the open worker in a terminal of its own, where its questions can be answered. */
async function execute(name: "run" | "check" | "explain", uri = window.activeTextEditor?.document.uri): Promise<void> {
  if (uri === undefined || !workspace.isTrusted) return;
  await workspace.openTextDocument(uri).then((document) => document.save());
  const [command = "npx", ...args] = commandWords();
  const execution = new ProcessExecution(command, [...args, name, uri.fsPath]);
  const task = new Task(
    { type: "llm-do", name },
    workspace.getWorkspaceFolder(uri) ?? TaskScope.Workspace,
    name,
    "llm-do",
    execution,
  );
  task.presentationOptions = { focus: true, clear: true };
  await tasks.executeTask(task);
}

function commandWords(): readonly string[] {
  return workspace.getConfiguration("llm-do").get<string[]>("command") ?? ["npx", "llm-do"];
}
