"""The style of the HTML report: light and dark by the reader's settings, narrow and wide, and on paper."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1f2328; --edge: #d0d7de; --soft: #f6f8fa; --faint: #57606a;
  --link: #0550ae; --critical: #b4232c; --warning: #8a5a00; --info: #0550ae; --del: #ffebe9; --ins: #dafbe1; }
@media (prefers-color-scheme: dark) { :root { --paper: #0d1117; --ink: #e6edf3; --edge: #30363d; --soft: #161b22;
  --faint: #9aa4af; --link: #79b8ff; --critical: #ff8a80; --warning: #e3b341; --info: #79b8ff;
  --del: #4b1113; --ins: #12331c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; }
main { max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; margin: .5rem 0; } h2 { font-size: 1.2rem; margin: 1.5rem 0 .5rem; }
a { color: var(--link); }
code, pre { font: .875em/1.45 ui-monospace, monospace; }
pre { background: var(--soft); border: 1px solid var(--edge); border-radius: 6px; padding: .6rem;
  white-space: pre-wrap; margin: .5rem 0; }
pre code { font-size: .85rem; }
details { border: 1px solid var(--edge); border-radius: 6px; margin: .5rem 0; padding: 0 .75rem; }
details[open] { padding-bottom: .5rem; }
summary { cursor: pointer; padding: .5rem 0; } summary:focus-visible { outline: 2px solid var(--link); }
.finding:not([open]) { content-visibility: auto; contain-intrinsic-size: auto 2.6rem; }
.finding details { border: 0; padding: 0; margin: 0; color: var(--faint); font-size: .85rem; }
b.critical { color: var(--critical); } b.warning { color: var(--warning); } b.info { color: var(--info); }
dl { margin: .25rem 0; } dt::after { content: ":"; }
dt { font-weight: 600; float: left; clear: left; margin-right: .5rem; }
dd { margin: 0 0 .25rem; } dd pre { clear: both; }
.small { color: var(--faint); font-size: .85rem; margin: .25rem 0; }
del, ins { text-decoration: none; } del { background: var(--del); } ins { background: var(--ins); }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: .5rem 0; }
th, td { border: 1px solid var(--edge); padding: .3rem .5rem; text-align: left; vertical-align: top; }
@media print { main { max-width: none; padding: 0; } .finding { content-visibility: visible; break-inside: avoid; }
  details::details-content { content-visibility: visible; display: block; } }
"""
"""It names no address: nothing is loaded."""
