/** The style of a page. Its digest stands in the page's content security policy: there are no style attributes. */
export const pageStyle = `
:root { --paper: #fcfcfb; --panel: #fff; --ink: #1c2024; --soft: #60646c; --line: #e2e3e5; --fill: #f3f4f4; --link: #0b63ce;
  --good: #18794e; --bad: #c62a2f; --warn: #9a5b00; --good-fill: #e9f6ee; --bad-fill: #fdecec; --warn-fill: #fff4dd; --model: #6e9fe8; --person: #e5a13a; --tool: #7fb69a; }
@media (prefers-color-scheme: dark) { :root { --paper: #131416; --panel: #1a1c1f; --ink: #e8e9eb; --soft: #9ba1a8; --line: #2d3034; --fill: #22252a; --link: #7cb4ff;
  --good: #5bc98c; --bad: #ff8b8b; --warn: #f0b95a; --good-fill: #16301f; --bad-fill: #3a1a1c; --warn-fill: #35280f; --model: #4f7fc7; --person: #c98a2b; --tool: #4f8a6d; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 12px; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif; overflow-wrap: anywhere; }
h1, h2, h3, h4, h5, p, dl, ol, ul { margin: 0; }
h1 { font-size: 24px; line-height: 1.3; } h2 { font-size: 18px; margin: 32px 0 10px; } h3 { font-size: 16px; } h5 { font-size: 12px; color: var(--soft); font-weight: 600; margin-top: 10px; }
h2 small, h3 small, h4 small { color: var(--soft); font-weight: 400; font-size: 13px; }
small { color: var(--soft); font-size: 12.5px; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 4px; }
code, pre, kbd { font: 12.5px/1.5 ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace; }
code, kbd { background: var(--fill); border-radius: 4px; padding: 1px 5px; }
kbd { border: 1px solid var(--line); }
pre { margin: 6px 0 0; padding: 10px 12px; background: var(--fill); border-radius: 6px; white-space: pre-wrap; max-height: 32em; overflow: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; color: var(--soft); font-weight: 600; font-size: 12.5px; }
td, th { padding: 7px 12px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.scroll { overflow-x: auto; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.top { padding: 26px 28px 18px; border-bottom: 1px solid var(--line); background: var(--panel); }
.top dl { display: flex; flex-wrap: wrap; gap: 6px 26px; margin-top: 14px; }
dt { color: var(--soft); font-size: 12.5px; } dd { margin: 0; }
.prompt { margin-top: 6px; color: var(--soft); white-space: pre-wrap; }
.badge { font-size: 13px; font-weight: 600; padding: 3px 10px; border-radius: 20px; vertical-align: 3px; background: var(--warn-fill); color: var(--warn); }
.badge.done { background: var(--good-fill); color: var(--good); } .badge.failed, .badge.denied, .badge.aborted { background: var(--bad-fill); color: var(--bad); }
.columns { display: grid; grid-template-columns: minmax(340px, 32%) minmax(0, 1fr); align-items: start; }
nav { position: sticky; top: 0; max-height: 100vh; overflow: auto; padding: 18px 16px 18px 24px; }
#filter { width: 100%; padding: 7px 10px; border: 1px solid var(--line); border-radius: 6px; background: var(--panel); color: inherit; font: inherit; font-size: 14px; }
#tree { list-style: none; padding: 0; margin-top: 10px; }
#tree a { display: grid; grid-template-columns: minmax(0, 1fr) 84px 54px; gap: 8px; align-items: center; padding: 4px 6px; border-radius: 5px; color: inherit; font-size: 13.5px; }
#tree a:hover, #tree .current a { background: var(--fill); text-decoration: none; }
#tree small { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.about { color: var(--soft); }
.d1 { padding-left: 14px; } .d2 { padding-left: 28px; } .d3 { padding-left: 42px; } .d4 { padding-left: 56px; } .d5 { padding-left: 70px; } .d6, .d7, .d8 { padding-left: 84px; }
.mark { display: inline-block; width: 1.1em; text-align: center; font-weight: 700; color: var(--soft); }
.mark.done { color: var(--good); } .mark.failed, .mark.denied { color: var(--bad); } .mark.open { color: var(--warn); }
.bar { width: 100%; height: 10px; background: var(--fill); border-radius: 3px; }
.whole { fill: var(--soft); opacity: .35; } .whole.failed, .whole.denied { fill: var(--bad); opacity: .5; }
.model { fill: var(--model); } .person { fill: var(--person); } .tool { fill: var(--tool); }
.keys i { display: inline-block; width: 18px; height: 8px; border-radius: 3px; } i.model { background: var(--model); } i.person { background: var(--person); } i.tool { background: var(--tool); }
.share { width: 120px; height: 8px; background: var(--fill); }
.keys { margin-top: 16px; font-size: 12.5px; color: var(--soft); line-height: 2; }
main { padding: 0 28px 60px; max-width: 1040px; min-width: 0; min-height: 100vh; border-left: 1px solid var(--line); }
.result { border-left: 3px solid var(--good); padding: 2px 0 2px 14px; }
.prose { white-space: pre-wrap; } .prose table { width: auto; margin: 6px 0; white-space: normal; }
.call { border: 1px solid var(--line); border-radius: 10px; background: var(--panel); padding: 16px 18px; margin-bottom: 18px; }
.call > header { padding-bottom: 8px; }
.call.denied, .call.failed { border-color: var(--bad); }
.path, .meta { font-size: 13px; color: var(--soft); }
.message { margin-top: 14px; padding-left: 14px; border-left: 3px solid var(--line); }
.message.assistant { border-left-color: var(--model); }
.message h4 { font-size: 13px; color: var(--soft); font-weight: 600; }
.file { margin-top: 4px; }
details { margin-top: 8px; }
summary { cursor: pointer; }
details.part > summary, details.reasoning > summary, details.long > summary { color: var(--soft); font-size: 13.5px; }
details.long q { font-style: normal; quotes: none; }
details.reasoning .prose { color: var(--soft); font-style: italic; }
details.tool, .link { border: 1px solid var(--line); border-radius: 7px; padding: 7px 12px; margin-top: 8px; font-size: 14px; fill: none; }
details.tool.denied, details.tool.failed { border-color: var(--bad); }
details.tool > summary { list-style: none; } details.tool > summary::-webkit-details-marker { display: none; }
details.tool > summary small, .link small { white-space: nowrap; }
.link a { color: inherit; display: block; }
.why, .server { font-size: 13px; color: var(--soft); margin-top: 6px; }
.decision { margin-top: 8px; padding: 7px 12px; border-radius: 6px; background: var(--warn-fill); font-size: 14px; }
.decision.approved { background: var(--good-fill); } .decision.denied { background: var(--bad-fill); }
b.approved { color: var(--good); } b.denied { color: var(--bad); } b.open { color: var(--warn); }
.note, .cut { font-size: 13px; color: var(--warn); margin-top: 6px; } .cut { display: block; }
.note.failed, .failure { color: var(--bad); margin-top: 6px; }
.diff { background: var(--panel); border: 1px solid var(--line); padding: 8px 0; }
.diff span { display: block; padding: 0 12px; min-height: 1.5em; } .diff .add { background: var(--good-fill); } .diff .del { background: var(--bad-fill); }
.diff .about { color: var(--soft); }
@media (max-width: 860px) {
  .columns { display: block; }
  nav { position: static; max-height: 45vh; border-bottom: 1px solid var(--line); padding: 14px 16px; }
  .keys { display: none; }
  .top { padding: 20px 16px 14px; } .top dl { display: grid; grid-template-columns: 1fr 1fr; gap: 10px 16px; }
  main { padding: 0 16px 40px; border-left: 0; } .call { padding: 14px 12px; }
  #approvals table, #approvals tbody, #approvals tr, #approvals td { display: block; } #approvals thead { display: none; }
  #approvals td { border: 0; padding: 1px 0; } #approvals tr { padding: 8px 0; border-bottom: 1px solid var(--line); }
}
@media print { nav { display: none; } .columns { display: block; } pre { max-height: none; } }
`;
