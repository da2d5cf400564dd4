/** Texts that nobody may read but who was granted it. Each word is found in no other file. */
export const tokens = {
  secret: "cnry-secret-Zb81kq",
  suffix: "cnry-suffix-Wm40xd",
  outside: "cnry-outside-Rt92va",
  home: "cnry-home-Lp63ys",
  state: "cnry-state-Hc27fe",
  hidden: "cnry-hidden-Ug58no",
  vault: "cnry-vault-Dj19ti",
  credential: "cnry-credential-Ks74mb",
  environment: "cnry-environment-Xe35gw",
} as const;

/** Paths below the playground's root. */
export const plainFiles: Readonly<Record<string, string>> = {
  "outside/file": "x\n",
  "home/.ssh/id_rsa": `${tokens.home}\n`,
  "home/.netrc": `machine x password ${tokens.home}\n`,
  "home/.local/state/llm-do/credentials.json": `${tokens.state}\n`,
  "work/main.worker": "---\ndescription: d\n---\nx\n",
  "work/tools.ts": "export {};\n",
  "work/package.json": '{ "name": "p", "scripts": { "test": "touch canary-npm", "build": "echo x > out/built" } }\n',
  "work/README.md": "x y\nTODO\n",
  "work/notes.txt": "b\na\nx\n",
  "work/scripts/build.sh": "echo built\n",
  "work/data.json": '{"a": [1, 2]}\n',
  "work/x": "x\n",
  "work/src/index.ts": "// TODO x\nexport const x = 1;\n",
  "work/src/util/a.ts": "export const a = 1;\n",
  "work/src/a.py": "print(1)\n",
  "work/docs/a.md": "# a\n",
  "work/docs/deep/b.md": "# b\n",
  "work/out/old.txt": "old\n",
  "work/out/notes/a.md": `${tokens.suffix}\n`,
  "work/out/notes/b.txt": `${tokens.suffix}\n`,
  "work/secret/key.txt": `${tokens.secret}\n`,
  "work/free/a.txt": "free\n",
  "work/small/a.txt": "small\n",
  "work/.env": `KEY=${tokens.hidden}\n`,
  "work/.npmrc": "audit=false\n",
  "work/keys/id_ed25519": `${tokens.hidden}\n`,
  "work/keys/.ssh/config": `${tokens.hidden}\n`,
  "work/.github/workflows/ci.yml": "on: push\n",
  "work/.vscode/settings.json": "{}\n",
  "work/Makefile": "all:\n\ttouch canary-make\ntest:\n\techo tested\n",
  "work/evil.awk": 'BEGIN { system("touch canary") }\n',
  "work/script": "w canary\n",
  "work/script.sed": "w canary\n",
  "work/dashes/-delete": "x\n",
  "work/dashes/a.txt": "x\n",
  "work/globs/src/a.ts": "x\n",
  "work/globs/src/package.json": "{}\n",
  "work/globs/.env": `KEY=${tokens.hidden}\n`,
  "work/globs/dashes/-v": "x\n",
  "work/globs/dashes/--files0-from=.env": "x\n",
  "work/globs/out/a.tmp": "x\n",
  "work/globs/lib/a.ts": "x\n",
  "work/node_modules/dep/index.js": "module.exports = 1;\n",
  "work/node_modules/dep/package.json": '{ "name": "dep" }\n',
  "work/vault/.env": `KEY=${tokens.vault}\n`,
  "work/vault/readme.md": "vault\n",
  "work/other/a": "a\n",
};

/** Touches a name that shows who ran it, wherever it runs, and goes on as a filter. */
const evil = (name: string) =>
  `#!/bin/sh\nfor f in "$PWD" "$(dirname "$0")" "$PWD/.." /tmp; do touch "$f/canary-${name}"; done 2>/dev/null\ncat 2>/dev/null\nexit 0\n`;

const hooks = [..."pre-commit¦post-checkout¦post-commit¦post-index-change¦pre-push¦reference-transaction¦post-merge".split("¦")];

const configuration = `[core]
	repositoryformatversion = 0
	bare = false
	fsmonitor = ./evil.sh
	pager = ./evil.sh
	sshCommand = ./evil.sh
[user]
	name = a
	email = a@b
[remote "origin"]
	url = https://ada:${tokens.credential}@localhost:9/x.git
[remote "evil"]
	prune = true
[remote "there"]
	url = ./evil.git
[http "https://localhost:9/"]
	extraheader = Authorization: basic ${tokens.credential}
[sendemail]
	smtppass = ${tokens.credential}
[alias]
	st = status
	pwn = !touch canary-alias
[filter "f"]
	clean = ./evil.sh
	smudge = ./evil.sh
[diff "d"]
	textconv = ./evil.sh
[merge "m"]
	driver = ./evil.sh
[submodule "sub"]
	url = ./other
	active = true
`;

/** Executable; written after the repositories are made. */
export const hostileFiles: Readonly<Record<string, string>> = {
  "outside/file": `${tokens.outside}\n`,
  "work/evil.sh": evil("config"),
  "work/evil": evil("file"),
  "work/scripts/build.sh": evil("script"),
  "work/src/evil": evil("file"),
  "work/.git/config": configuration,
  "work/.gitattributes": "*.txt filter=f diff=d merge=m\n",
  "work/src/.env.local": `KEY=${tokens.hidden}\n`,
  "work/.git/config.bak": configuration,
  "work/.git/credentials": `https://ada:${tokens.credential}@localhost:9\n`,
  "work/.git/remotes/older": `URL: https://ada:${tokens.credential}@localhost:9/x.git\n`,
  "work/.git/branches/oldest": `https://ada:${tokens.credential}@localhost:9/x.git#main\n`,
  "work/.hg/hgrc": `[auth]\nx.password = ${tokens.credential}\n[hooks]\npre-status = touch canary-hg\n[alias]\nlog = !touch canary-hg\n`,
  "work/node_modules/.bin/tool": evil("tool"),
  "work/evil.git/hooks/pre-receive": evil("hook"),
  ...Object.fromEntries(hooks.map((name) => [`work/.git/hooks/${name}`, evil("hook")])),
  ...Object.fromEntries(hooks.map((name) => [`work/.git/modules/sub/hooks/${name}`, evil("hook")])),
};
