/**
 * The style sheet of the HTML report, and the hash by which the page's own policy admits it and nothing else.
 *
 * Light and dark follow the reader's system. Nothing is said by colour alone: severities have a sign and a word, and the
 * pictures have a pattern for each state.
 */

export const STYLE = `
:root{color-scheme:light dark;--bg:#fff;--card:#f6f7f9;--fg:#1b1f24;--muted:#57606a;--line:#d0d7de;--link:#0550ae;
--good:#116329;--good-bg:#e6f4ea;--info:#0550ae;--info-bg:#e7f0fb;--warning:#7a4b00;--warning-bg:#fff4d6;
--error:#a3191f;--error-bg:#fdeaea;--fatal:#fff;--fatal-bg:#9b1117;--mark:#ffd9d6;
--verified:#8fc7a1;--damaged:#d1242f;--torn:#e29b16;--zeros:#b9a7e8;--unread:#c4cad1;--ink:#1b1f24;--paper:#fff;
--remote:#8db7e8;--hole:#fff;--gen-a:#b6cbe6;--gen-b:#d9e4f2}
@media screen and (prefers-color-scheme:dark){:root{--bg:#0e1116;--card:#171c23;--fg:#e6edf3;--muted:#9ba7b4;--line:#333c47;--link:#79b8ff;
--good:#7ee2a0;--good-bg:#11301d;--info:#9cc9ff;--info-bg:#10263f;--warning:#f2c35c;--warning-bg:#3a2a06;
--error:#ff9a94;--error-bg:#43161a;--fatal:#fff;--fatal-bg:#a5161d;--mark:#6b1f24;
--verified:#2f6f46;--damaged:#f0525b;--torn:#d08a14;--zeros:#7a62c4;--unread:#49525d;--ink:#e6edf3;--paper:#0e1116;
--remote:#2f5f96;--hole:#0e1116;--gen-a:#35507a;--gen-b:#22344f}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;overflow-wrap:anywhere}
main,header.page,footer{max-width:72rem;margin:0 auto;padding:0 1rem}
header.page{padding-top:1.25rem}
footer{padding-top:1rem;padding-bottom:2rem;color:var(--muted);border-top:1px solid var(--line);margin-top:2.5rem;font-size:.9rem}
h1{font-size:clamp(1.35rem,1.1rem + 1.4vw,2rem);line-height:1.2;margin:.4rem 0 .6rem}
h2{font-size:1.3rem;line-height:1.25;margin:2.2rem 0 .5rem;padding-top:.6rem;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.6rem 0 .5rem}
h4{font-size:1rem;margin:0 0 .4rem;line-height:1.4}
p{margin:.4rem 0}
ul{margin:.4rem 0;padding-left:1.3rem}
a{color:var(--link)}
a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:3px}
.skip{position:absolute;left:-200vw}
.skip:focus{left:1rem;top:.5rem;background:var(--bg);padding:.5rem .8rem;border:2px solid var(--link);z-index:2}
.muted{color:var(--muted)}
.small{font-size:.9rem}
code,pre,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.9em}
.badge{display:inline-block;white-space:nowrap;font-size:.85rem;line-height:1.35;font-weight:600;padding:.1rem .55rem;border-radius:1rem;border:1px solid currentColor;vertical-align:.08em}
.good{color:var(--good);background:var(--good-bg)}
.info{color:var(--info);background:var(--info-bg)}
.warning{color:var(--warning);background:var(--warning-bg)}
.error{color:var(--error);background:var(--error-bg)}
.fatal{color:var(--fatal);background:var(--fatal-bg)}
.verdict{border:1px solid var(--line);border-left:.5rem solid var(--line);background:var(--card);border-radius:.4rem;padding:.7rem 1rem;margin:.8rem 0}
.verdict p{margin:.2rem 0}
.verdict.is-good{border-left-color:var(--verified)}
.verdict.is-info{border-left-color:var(--remote)}
.verdict.is-warning{border-left-color:var(--torn)}
.verdict.is-error,.verdict.is-fatal{border-left-color:var(--damaged)}
.verdict ul{margin:.2rem 0}
.verdict .lead{font-weight:600;font-size:1.05rem}
dl.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.2rem,1fr));gap:.6rem;margin:1rem 0}
dl.figures div{background:var(--card);border:1px solid var(--line);border-radius:.4rem;padding:.5rem .7rem}
dl.figures dt{color:var(--muted);font-size:.85rem}
dl.figures dd{margin:0;font-size:1.15rem;font-weight:600;font-variant-numeric:tabular-nums}
dl.pairs{display:grid;grid-template-columns:max-content 1fr;gap:.15rem .9rem;margin:.4rem 0}
dl.pairs dt{color:var(--muted)}
dl.pairs dd{margin:0;min-width:0}
.scroll{overflow-x:auto;margin:.5rem 0;border:1px solid var(--line);border-radius:.4rem}
table{border-collapse:collapse;width:100%;font-size:.92rem;overflow-wrap:break-word}
caption{text-align:left;color:var(--muted);font-size:.88rem;padding:.4rem .6rem}
caption span{display:block;position:sticky;left:.6rem;max-width:min(100%,calc(100vw - 4rem))}
th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;border-top:1px solid var(--line)}
thead th{border-top:0;color:var(--muted);font-weight:600;white-space:nowrap}
tbody th{font-weight:600}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.name{min-width:12rem;overflow-wrap:anywhere}
.name .small{font-weight:400}
.no{white-space:nowrap}
tr.hurt{background:var(--error-bg)}
pre.command{margin:.4rem 0;padding:.55rem .75rem;background:var(--card);border:1px solid var(--line);border-radius:.4rem;white-space:pre-wrap;user-select:all;-webkit-user-select:all}
pre.command::before{content:"$ ";color:var(--muted);user-select:none;-webkit-user-select:none}
details{border:1px solid var(--line);border-radius:.4rem;margin:.5rem 0;background:var(--bg)}
summary{cursor:pointer;padding:.5rem .75rem;font-weight:600}
details>.inside{padding:0 .75rem .75rem}
details.shard>.inside>h3:first-child{margin-top:.4rem}
.finding{border:1px solid var(--line);border-radius:.4rem;padding:.75rem .9rem;margin:.7rem 0;background:var(--card);scroll-margin-top:1rem}
.finding:target,.shard:target{outline:3px solid var(--link);outline-offset:2px}
.finding .scroll,.finding details{background:var(--bg)}
figure{margin:.8rem 0 1.2rem}
figure>svg{display:block;width:100%;overflow:visible}
figcaption{font-size:.92rem;margin-bottom:.35rem}
ol.places{margin:.5rem 0 0;padding-left:1.8rem;font-size:.92rem}
svg text{font:600 12px system-ui,"DejaVu Sans",sans-serif;fill:var(--ink)}
svg text.lane{font-weight:400;fill:var(--muted)}
svg text.halo,svg text.lane{paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}
.f-verified{fill:var(--verified)}.f-damaged{fill:var(--damaged)}.f-torn{fill:var(--torn)}.f-zeros{fill:var(--zeros)}
.f-unread{fill:var(--unread)}.f-remote{fill:var(--remote)}.f-hole{fill:var(--hole)}.f-paper{fill:var(--paper)}
.f-gen-a{fill:var(--gen-a)}.f-gen-b{fill:var(--gen-b)}.f-ink{fill:var(--ink)}
.s-ink{stroke:var(--ink)}.s-paper{stroke:var(--paper)}.s-muted{stroke:var(--muted)}.s-damaged{stroke:var(--damaged)}
.s-torn{stroke:var(--torn)}.s-zeros{stroke:var(--zeros)}.s-unread{stroke:var(--muted)}
.none{fill:none}
.defs{position:absolute}
ol.first{padding-left:1.4rem}ol.first li{margin:.5rem 0}
ul.legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;font-size:.88rem;margin:.6rem 0}
ul.legend li{display:flex;align-items:center;gap:.4rem}
ul.legend svg{flex:none}
.hex table{width:auto;min-width:100%;font-size:.85rem}
.hex th,.hex td{border-top:0;padding:.08rem .6rem}
.hex thead th{padding-top:.35rem;padding-bottom:.35rem;border-bottom:1px solid var(--line)}
.hex .b{white-space:pre;width:1%}
.hex tbody th{width:1%}
.hex tbody th{font-weight:400;color:var(--muted)}
.hex mark{background:var(--mark);color:inherit;border:1px solid var(--damaged);border-radius:2px;padding:0 1px;margin:0 -2px;font-weight:700}
.hex ul{list-style:none;margin:0;padding:0;white-space:normal}
.hex .hurt{font-weight:600}
@media (max-width:40rem){
dl.pairs{grid-template-columns:1fr;gap:0}dl.pairs dd{margin-bottom:.35rem}
.hex table,.hex tbody,.hex tr,.hex caption{display:block}.finding{padding:.6rem .6rem}details>.inside{padding:0 .5rem .6rem}.hex thead{position:absolute;left:-200vw}.hex tr{padding:.15rem 0}
.hex th,.hex td{display:inline-block;padding:.05rem .3rem}.hex td.fields{display:block;padding-left:1rem}.hex td.fields:empty{display:none}
.hex .b{font-size:.78rem}}
@media print{
:root{color-scheme:light}
body{font-size:10.5pt}main,header.page,footer{max-width:none;padding:0}
.skip{display:none}
details:not([open])::details-content{content-visibility:visible;block-size:auto;height:auto}
.scroll{overflow:visible}.finding,figure,tr,pre{break-inside:avoid}h2,h3,h4{break-after:avoid}
svg,.badge,mark,.verdict{print-color-adjust:exact;-webkit-print-color-adjust:exact}
a{color:inherit;text-decoration:none}}
`;

/** `sha256-…` of {@link STYLE} in base64, held to it by a test. */
export const STYLE_HASH = 'sha256-dDy59ngKnTa/yrK+25E1QltOOOAmgQ0okbeEQXOY2bM=';
